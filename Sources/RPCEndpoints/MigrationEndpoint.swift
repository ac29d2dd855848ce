import AccessControl
import EntitlementDomain
package import EntitlementService
import EntitlementStore
package import RPCServer
import Wire

/// `entitle.v1.MigrationService`: imports of accounts (R89).
package struct MigrationEndpoint: Sendable {
  private let records: ImportRecords

  package init(records: ImportRecords) {
    self.records = records
  }

  package func register(in router: inout RPCRouter) {
    router.unary(WireMethods.importAccounts, importAccounts)
    router.unary(WireMethods.getImport, getImport)
    router.unary(WireMethods.listImports, listImports)
    router.unary(WireMethods.listImportRows, listImportRows)
    router.unary(WireMethods.changeImport, changeImport)
  }

  @Sendable
  private func importAccounts(_ call: RPCCall, _ answer: RPCAnswer) {
    let (permits, caller) = (call.permits, call.auditCaller)
    answer.respond(to: call, ImportAccountsRequest.self) { request in
      .later {
        let outcomes = try await records.add(
          request.rows.map { row in
            AccountToImport(
              row: row.row, account: row.accountID, transaction: row.transactionID,
              token: row.appAccountToken, environment: row.environment,
              asksSandboxToo: row.asksSandboxToo)
          },
          to: request.importID, of: request.bundleID, isDryRun: request.isDryRun,
          permits: permits,
          ChangeAudit(
            onBehalfOf: request.onBehalfOf, reason: request.reason ?? "", caller: caller))
        return try ImportAccountsResponse(results: outcomes.map { ImportRowResult($0) }).encoded()
      }
    }
  }

  @Sendable
  private func getImport(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, GetImportRequest.self) { request in
      .later {
        let summary = try await records.summary(of: request.importID, of: request.bundleID)
        return try GetImportResponse(accountImport: ImportEntry(summary)).encoded()
      }
    }
  }

  @Sendable
  private func listImports(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, ListImportsRequest.self) { request in
      .later {
        let page = try await records.imports(
          of: request.bundleID, after: try Self.position(request.pageToken),
          limit: request.effectivePageSize)
        return try ListImportsResponse(
          imports: page.imports.map { ImportEntry($0) }, nextPageToken: page.next.map { "\($0)" }
        ).encoded()
      }
    }
  }

  @Sendable
  private func listImportRows(_ call: RPCCall, _ answer: RPCAnswer) {
    let permits = call.permits
    answer.respond(to: call, ListImportRowsRequest.self) { request in
      .later {
        let state = request.state.flatMap { AccountImportRow.State(rawValue: $0.rawValue) }
        let page = try await records.rows(
          of: request.importID, of: request.bundleID, in: state ?? .failed,
          after: try Self.position(request.pageToken), limit: request.effectivePageSize,
          permits: permits)
        return try ListImportRowsResponse(
          rows: page.rows.map { ImportRowEntry($0) }, nextPageToken: page.next.map { "\($0)" }
        ).encoded()
      }
    }
  }

  @Sendable
  private func changeImport(_ call: RPCCall, _ answer: RPCAnswer) {
    let (permits, caller) = (call.permits, call.auditCaller)
    answer.respond(to: call, ChangeImportRequest.self) { request in
      .later {
        let kind: AccountImportChange.Kind =
          switch request.action {
          case .cancel: .cancel
          case .retry: .retry
          case .delete: .delete
          }
        let changed = try await records.change(
          request.importID, of: request.bundleID, kind, permits: permits,
          ChangeAudit(
            onBehalfOf: request.onBehalfOf, reason: request.reason ?? "", caller: caller))
        return try ChangeImportResponse(
          changedRows: Int64(changed.count), isComplete: changed.isComplete
        ).encoded()
      }
    }
  }

  /// After which a page begins.
  private static func position(_ token: String?) throws -> Int64 {
    guard let token else { return 0 }
    guard let position = Int64(token), position > 0 else {
      throw ServiceError(
        .invalidArgument(field: "page_token"), "the page token is not one of this server")
    }
    return position
  }
}

// MARK: Messages

extension ImportRowResult {
  fileprivate init(_ outcome: AccountImportAnswer.Outcome) {
    let row = outcome.row
    self.init(
      row: row.place.number, state: ImportRowState(rawValue: row.state.rawValue),
      failure: row.reason.flatMap { ImportFailure(rawValue: $0.rawValue) },
      detail: row.detail.isEmpty ? nil : row.detail, isKnown: outcome.wasKnown)
  }
}

extension ImportEntry {
  fileprivate init(_ summary: AccountImportSummary) {
    self.init(
      importID: summary.name.id, bundleID: summary.bundleID, author: summary.author,
      beganAt: summary.beganAt, lastRow: summary.lastRow,
      counts: summary.counts.map { count in
        ImportCount(
          state: ImportRowState(rawValue: count.state.rawValue),
          failure: count.reason.flatMap { ImportFailure(rawValue: $0.rawValue) },
          count: count.count)
      })
  }
}

extension ImportRowEntry {
  init(_ row: AccountImportRow) {
    self.init(
      row: row.place.number, accountID: row.account.rawValue.isEmpty ? nil : row.account,
      transactionID: row.transaction.rawValue.isEmpty ? nil : row.transaction,
      appAccountToken: row.token, environment: row.scope.environment,
      state: ImportRowState(rawValue: row.state.rawValue),
      failure: row.reason.flatMap { ImportFailure(rawValue: $0.rawValue) },
      detail: row.detail.isEmpty ? nil : row.detail, changedAt: row.changedAt,
      dueAt: row.state == .waiting ? row.dueAt : nil)
  }
}
