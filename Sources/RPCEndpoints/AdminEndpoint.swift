import EntitlementDomain
package import EntitlementService
package import RPCServer
import Wire

/// `entitle.v1.AdminService`: grants, the catalog, the change feed, archived responses, figures.
package struct AdminEndpoint: Sendable {
  private let grants: GrantService
  private let catalog: CatalogHolder
  private let reloader: CatalogReloader
  private let feed: ChangeFeed
  private let submissions: SubmissionService
  private let statistics: ServiceStatistics

  package init(
    grants: GrantService, catalog: CatalogHolder, reloader: CatalogReloader, feed: ChangeFeed,
    submissions: SubmissionService, statistics: ServiceStatistics
  ) {
    self.grants = grants
    self.catalog = catalog
    self.reloader = reloader
    self.feed = feed
    self.submissions = submissions
    self.statistics = statistics
  }

  package func register(in router: inout RPCRouter) {
    router.unary(WireMethods.addGrant, addGrant)
    router.unary(WireMethods.withdrawGrant, withdrawGrant)
    router.unary(WireMethods.listGrants, listGrants)
    router.unary(WireMethods.getCatalog, getCatalog)
    router.unary(WireMethods.reloadCatalog, reloadCatalog)
    router.unary(WireMethods.listChanges, listChanges)
    router.unary(WireMethods.importArchivedResponse, importArchivedResponse)
    router.unary(WireMethods.getStatistics, getStatistics)
  }

  @Sendable
  private func addGrant(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, AddGrantRequest.self) { request in
      .later {
        let receipt = try await grants.add(
          GrantRequest(
            id: request.grantID, scope: request.scope, accountID: request.accountID,
            entitlementID: request.entitlementID, starts: request.starts,
            expires: request.expires, reason: request.reason, author: request.author))
        return try GrantResponse(receipt).encoded()
      }
    }
  }

  @Sendable
  private func withdrawGrant(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, WithdrawGrantRequest.self) { request in
      .later {
        let receipt = try await grants.withdraw(
          request.grantID, in: request.scope, reason: request.reason, author: request.author)
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
    answer.respond(to: call, GetCatalogRequest.self) { _ in
      let (snapshot, lastAttempt) = catalog.status
      return .now(try CatalogResponse(snapshot, lastAttempt: lastAttempt).encoded())
    }
  }

  @Sendable
  private func reloadCatalog(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, ReloadCatalogRequest.self) { request in
      .later {
        let attempt = await reloader.reload(dryRun: request.isDryRun)
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
    answer.respond(to: call, ImportArchivedResponseRequest.self) { request in
      .later {
        let result = try await submissions.importArchive(
          ArchiveSubmission(
            response: request.response, bundleID: request.bundleID,
            accountID: request.accountID),
          deadline: deadline, isCancelled: { answer.isCancelled })
        return try SubmitReceiptResponse(result).encoded()
      }
    }
  }

  @Sendable
  private func getStatistics(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, GetStatisticsRequest.self) { _ in
      let counters = statistics.values.map { StatisticsCounter(name: $0.name, value: $0.value) }
      return .now(try GetStatisticsResponse(counters: counters).encoded())
    }
  }
}
