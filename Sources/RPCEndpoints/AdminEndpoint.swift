import AccessControl
import EntitlementDomain
package import EntitlementService
import EntitlementStore
import Framing
package import RPCServer
package import Wire

/// A server as it is described to operators. Only the warnings change while the server runs.
package struct ServerDescription: Sendable {
  package let version: String
  /// Tells the nodes of one store apart.
  package let nodeName: String
  package let storeKind: StoreKind
  /// What is unsafe, and what operators must do, in English.
  package let warnings: @Sendable () -> [String]

  package init(
    version: String, nodeName: String, storeKind: StoreKind,
    warnings: @escaping @Sendable () -> [String] = { [] }
  ) {
    self.version = version
    self.nodeName = nodeName
    self.storeKind = storeKind
    self.warnings = warnings
  }
}

/// `entitle.v1.AdminService`: grants, the catalog, the change feed, archived responses, customer
/// records, notifications, metrics and the server itself.
package struct AdminEndpoint: Sendable {
  private let grants: GrantService
  private let catalog: CatalogHolder
  private let reloader: CatalogReloader
  private let feed: ChangeFeed
  private let submissions: SubmissionService
  private let records: CustomerRecords
  private let statistics: ServiceStatistics
  private let server: ServerDescription

  package init(
    grants: GrantService, catalog: CatalogHolder, reloader: CatalogReloader, feed: ChangeFeed,
    submissions: SubmissionService, records: CustomerRecords, statistics: ServiceStatistics,
    server: ServerDescription
  ) {
    self.grants = grants
    self.catalog = catalog
    self.reloader = reloader
    self.feed = feed
    self.submissions = submissions
    self.records = records
    self.statistics = statistics
    self.server = server
  }

  package func register(in router: inout RPCRouter) {
    router.unary(WireMethods.addGrant, addGrant)
    router.unary(WireMethods.withdrawGrant, withdrawGrant)
    router.unary(WireMethods.listGrants, listGrants)
    router.unary(WireMethods.getCatalog, getCatalog)
    router.unary(WireMethods.reloadCatalog, reloadCatalog)
    router.unary(WireMethods.listChanges, listChanges)
    router.unary(WireMethods.importArchivedResponse, importArchivedResponse)
    router.unary(WireMethods.getCustomerHistory, getCustomerHistory)
    router.serverStreaming(WireMethods.exportCustomer, exportCustomer)
    router.unary(WireMethods.deleteCustomer, deleteCustomer)
    router.unary(WireMethods.listUnlinkedChains, listUnlinkedChains)
    router.unary(WireMethods.listNotifications, listNotifications)
    router.unary(WireMethods.getStatistics, getStatistics)
    router.unary(WireMethods.getServer, getServer)
  }

  @Sendable
  private func addGrant(_ call: RPCCall, _ answer: RPCAnswer) {
    let caller = call.auditCaller
    answer.respond(to: call, AddGrantRequest.self) { request in
      .later {
        let receipt = try await grants.add(
          GrantRequest(
            id: request.grantID, scope: request.scope, accountID: request.accountID,
            entitlementID: request.entitlementID, starts: request.starts,
            expires: request.expires, reason: request.reason, onBehalfOf: request.onBehalfOf,
            caller: caller))
        return try GrantResponse(receipt).encoded()
      }
    }
  }

  @Sendable
  private func withdrawGrant(_ call: RPCCall, _ answer: RPCAnswer) {
    let caller = call.auditCaller
    answer.respond(to: call, WithdrawGrantRequest.self) { request in
      .later {
        let receipt = try await grants.withdraw(
          request.grantID, in: request.scope, reason: request.reason,
          onBehalfOf: request.onBehalfOf,
          caller: caller)
        return try GrantResponse(receipt).encoded()
      }
    }
  }

  @Sendable
  private func listGrants(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, ListGrantsRequest.self) { request in
      .later {
        let grants = try await grants.grants(of: request.accountID, in: request.scope)
        return try ListGrantsResponse(grants: grants).encoded()
      }
    }
  }

  @Sendable
  private func getCatalog(_ call: RPCCall, _ answer: RPCAnswer) {
    let isLimited = !call.identity.caller.scopes.isUnlimited
    answer.respond(to: call, GetCatalogRequest.self) { _ in
      let (snapshot, lastAttempt) = catalog.status
      var response = CatalogResponse(snapshot, lastAttempt: lastAttempt)
      if isLimited {
        // Issues of the file may name apps that the caller may not use.
        response.warnings = []
        response.lastAttempt?.issues = []
        response.lastAttempt?.failure = nil
      }
      return .now(try response.encoded())
    }
  }

  @Sendable
  private func reloadCatalog(_ call: RPCCall, _ answer: RPCAnswer) {
    let caller = call.auditCaller
    answer.respond(to: call, ReloadCatalogRequest.self) { request in
      .later {
        let attempt = await reloader.reload(
          dryRun: request.isDryRun,
          by: try ReloadOrigin(caller, onBehalfOf: request.onBehalfOf))
        return try CatalogResponse(catalog.snapshot, lastAttempt: attempt).encoded()
      }
    }
  }

  @Sendable
  private func listChanges(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, ListChangesRequest.self) { request in
      .later {
        let changes = try await feed.changes(
          after: request.afterSequence, limit: request.effectivePageSize)
        return try ListChangesResponse(changes: changes.map { ChangeEntry($0) }).encoded()
      }
    }
  }

  @Sendable
  private func importArchivedResponse(_ call: RPCCall, _ answer: RPCAnswer) {
    let deadline = call.instant
    let source = call.source
    let permits = call.permits
    let caller = call.auditCaller
    answer.respond(to: call, ImportArchivedResponseRequest.self) { request in
      .later {
        let result = try await submissions.importArchive(
          ArchiveSubmission(
            response: request.response, bundleID: request.bundleID,
            environment: request.environment, asOf: request.asOf,
            accountID: request.accountID, source: source, caller: caller,
            onBehalfOf: request.onBehalfOf, permits: permits),
          deadline: deadline, isCancelled: { answer.isCancelled })
        return try SubmitReceiptResponse(result).encoded()
      }
    }
  }

  @Sendable
  private func getCustomerHistory(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, GetCustomerHistoryRequest.self) { request in
      .later {
        let history = try await records.history(of: request.accountID, in: request.scope)
        return try TruncatedList.encoded(
          history.entries.map { CustomerHistoryEntry($0) }, keeping: .last
        ) {
          GetCustomerHistoryResponse(accountID: history.accountID, entries: $0)
        }
      }
    }
  }

  @Sendable
  private func exportCustomer(_ call: RPCCall, _ stream: RPCServerStream) {
    do {
      let request = try call.authorizedRequest(ExportCustomerRequest.self)
      let source = call.source
      let caller = call.auditCaller
      stream.produce(for: source, within: records.exportLimits.time) { [records] producer in
        let export = try await records.export(
          request.accountID, in: request.scope, for: source, caller: caller,
          onBehalfOf: request.onBehalfOf)
        export.givesWay { stream.abort(.gaveWay(after: records.exportLimits.patience)) }
        var document = ExportDocument(export)
        while let piece = try document.next() {
          try await producer.send(try ExportedPiece(json: piece).encoded())
          export.wasRead()
        }
      }
    } catch {
      stream.fail(RPCStatus(mapping: error))
    }
  }

  @Sendable
  private func deleteCustomer(_ call: RPCCall, _ answer: RPCAnswer) {
    let caller = call.auditCaller
    answer.respond(to: call, DeleteCustomerRequest.self) { request in
      .later {
        let receipt = try await records.delete(
          request.accountID, in: request.scope,
          ChangeAudit(onBehalfOf: request.onBehalfOf, reason: request.reason, caller: caller))
        return try LinkResponse(receipt).encoded()
      }
    }
  }

  @Sendable
  private func listUnlinkedChains(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, ListUnlinkedChainsRequest.self) { request in
      .later {
        let size = request.effectivePageSize
        let chains = try await records.unlinkedChains(
          in: request.scope, after: request.pageToken.map { OriginalTransactionID($0) },
          limit: size)
        let next = chains.count < size ? nil : chains.last?.chain.rawValue
        return try ListUnlinkedChainsResponse(
          chains: chains.map { UnlinkedChainEntry($0) }, nextPageToken: next
        ).encoded()
      }
    }
  }

  @Sendable
  private func listNotifications(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, ListNotificationsRequest.self) { request in
      .later {
        var query = NotificationQuery(
          bundleID: request.bundleID, environment: request.environment,
          type: request.notificationType, since: request.since, limit: request.effectivePageSize)
        if let token = request.pageToken {
          guard let place = NotificationQuery.Place(token: token) else {
            throw ServiceError(
              .invalidArgument(field: "page_token"), "the page token is not one of this server")
          }
          query.after = place
        }
        let page = try await records.notifications(query)
        return try ListNotificationsResponse(
          notifications: page.notifications.map { ReceivedNotificationEntry($0) },
          nextPageToken: page.next?.token
        ).encoded()
      }
    }
  }

  @Sendable
  private func getStatistics(_ call: RPCCall, _ answer: RPCAnswer) {
    let isLimited = !call.identity.caller.scopes.isUnlimited
    answer.respond(to: call, GetStatisticsRequest.self) { _ in
      // The names of callers are for those who may use all apps.
      let counters = statistics.values.filter { !isLimited || !$0.namesCaller }
        .map { StatisticsCounter(name: $0.name, value: $0.value) }
      return .now(
        try GetStatisticsResponse(counters: counters, version: server.version).encoded())
    }
  }

  @Sendable
  private func getServer(_ call: RPCCall, _ answer: RPCAnswer) {
    let isLimited = !call.identity.caller.scopes.isUnlimited
    answer.respond(to: call, GetServerRequest.self) { _ in
      // Warnings name callers and files.
      let warnings = isLimited ? [] : server.warnings()
      let digest = catalog.snapshot.digest
      return .now(
        try GetServerResponse(
          version: server.version, nodeName: server.nodeName, storeKind: server.storeKind,
          catalogDigest: digest.isEmpty ? nil : digest, warnings: warnings
        ).encoded())
    }
  }
}

// MARK: Messages

extension GrantResponse {
  init(_ receipt: GrantReceipt) {
    self.init(
      grant: receipt.grant, isChanged: receipt.isChanged, revision: receipt.customer.revision)
  }
}

extension CatalogResponse {
  init(
    _ snapshot: CatalogHolder.Snapshot, lastAttempt: CatalogReloadAttempt?
  ) {
    let size = snapshot.catalog.size
    self.init(
      digest: snapshot.digest, inForceSince: snapshot.inForceSince, appCount: size.apps,
      productCount: size.products, entitlementCount: size.entitlements,
      grandfatheringRuleCount: size.grandfatheringRules, warnings: snapshot.warnings,
      lastAttempt: lastAttempt.map { CatalogAttempt($0) })
  }
}

extension CatalogAttempt {
  init(_ attempt: CatalogReloadAttempt) {
    self.init(
      at: attempt.at, isValid: attempt.isValid, digest: attempt.digest, issues: attempt.issues,
      failure: attempt.failure)
  }
}

extension ChangeEntry {
  init(_ change: Change) {
    self.init(
      sequence: change.sequence, scope: change.scope,
      subject: change.subject.map { SubmittedCustomer.Subject($0) },
      committedAt: change.committedAt, hasFacts: change.kinds.contains(.facts),
      isLinked: change.kinds.contains(.linked), isUnlinked: change.kinds.contains(.unlinked),
      hasGrants: change.kinds.contains(.grants), events: change.events,
      isMerged: change.kinds.contains(.merged), isDeleted: change.kinds.contains(.deleted))
  }
}

extension NotificationQuery.Place {
  /// The text of a page token.
  fileprivate var token: String { "\(number):\(uuid)" }

  fileprivate init?(token: String) {
    let parts = token.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let number = Int64(parts[0]), !parts[1].utf8.contains(0) else {
      return nil
    }
    self.init(number: number, uuid: String(parts[1]))
  }
}

extension ReceivedNotificationEntry {
  init(_ notification: ListedNotification) {
    let record = notification.received.record
    self.init(
      notificationUUID: record.uuid, notificationType: record.type, subtype: record.subtype,
      scope: record.scope, signedDate: record.signedDate,
      receivedAt: notification.received.receivedAt, originalTransactionID: notification.chain,
      status: record.status)
  }
}

extension SubmittedCustomer.Subject {
  init(_ subject: CustomerSubject) {
    switch subject {
    case .account(_, let id): self = .account(id)
    case .unlinkedChain(_, let id): self = .unlinkedChain(id)
    }
  }
}

extension CustomerSubject {
  var scope: AppScope {
    switch self {
    case .account(let scope, _), .unlinkedChain(let scope, _): scope
    }
  }
}
