import AccessControl
import EntitlementDomain
import EntitlementService
import Framing
import NIOCore
import RPCClient
import RPCServer
import StoreSimulator
import TestSupport
import Testing
import Wire

/// Every role, with every scope, calls every method.
@Suite("Who may call what")
struct AccessMatrixTests {
  /// What a method asks of the scope.
  enum Subject {
    case app, everything, nothing
  }

  struct Method {
    let name: String
    let service: String
    let permission: String
    let subject: Subject
    let payload: ByteBuffer
    var isStream = false
  }

  /// The permissions of deploy/docs/access.md, written down again.
  static let roles: [String: Set<String>] = [
    "metrics": ["metrics"],
    "reader": ["read"],
    "submitter": ["read", "submit"],
    "support": ["read", "list", "metrics"],
    "auditor": ["audit"],
    "operator": [
      "read", "list", "metrics", "submit", "link", "grant", "import", "export", "catalog", "jobs",
      "offers", "app_store",
    ],
    "admin": [
      "read", "list", "metrics", "submit", "link", "grant", "import", "export", "catalog", "jobs",
      "offers", "app_store", "erase", "audit", "credentials",
    ],
  ]

  /// Whether a scope contains the app of the requests, and every app.
  static let scopes: [(name: String, fields: String, hasApp: Bool, hasAll: Bool)] = [
    ("all", "", true, true),
    ("app", "apps: {\(SimulatedApp.bundleID): [Production, Sandbox]}", true, false),
    ("sandbox", "apps: {\(SimulatedApp.bundleID): [Sandbox]}", false, false),
    ("other", "apps: {com.example.other: [Production]}", false, false),
  ]

  static func methods() throws -> [Method] {
    let scope = ServiceBench.scope
    let account = AccountID("matrix")
    let target = LinkTarget.chain("1")
    func method<Request: WireMessage, Response>(
      _ method: WireMethod<Request, Response>, _ permission: String, _ subject: Subject,
      _ request: Request, isStream: Bool = false
    ) throws -> Method {
      Method(
        name: method.name, service: method.service, permission: permission, subject: subject,
        payload: try request.encoded(), isStream: isStream)
    }
    let one = "00000000-0000-4000-8000-000000000001"
    return [
      try method(
        WireMethods.getCustomerState, "read", .app,
        GetCustomerStateRequest(customer: .account(account), scope: scope)),
      try method(
        WireMethods.batchGetCustomerState, "read", .app,
        BatchGetCustomerStateRequest(customers: [.account(account)], scope: scope)),
      try method(
        WireMethods.checkEntitlement, "read", .app,
        CheckEntitlementRequest(customer: .account(account), scope: scope, entitlementID: "pro")),
      try method(
        WireMethods.explainCustomerState, "list", .app,
        ExplainCustomerStateRequest(customer: .account(account), scope: scope)),
      try method(
        WireMethods.watchCustomerStates, "read", .app,
        WatchCustomerStatesRequest(bundleID: scope.bundleID, environment: scope.environment),
        isStream: true),
      try method(
        WireMethods.watchCustomerStates, "read", .everything, WatchCustomerStatesRequest(),
        isStream: true),
      try method(WireMethods.listCustomers, "list", .app, ListCustomersRequest(scope: scope)),
      try method(
        WireMethods.submitSignedTransactions, "submit", .nothing,
        SubmitSignedTransactionsRequest(signedPayloads: ["a.b.c"])),
      try method(
        WireMethods.submitNotification, "submit", .nothing,
        SubmitNotificationRequest(signedPayload: "a.b.c")),
      try method(
        WireMethods.submitReceipt, "submit", .nothing, SubmitReceiptRequest(receipt: [1, 2, 3])),
      try method(
        WireMethods.resolveAccount, "list", .app,
        ResolveAccountRequest(customer: .account(account), scope: scope)),
      try method(
        WireMethods.linkAccount, "link", .app,
        LinkAccountRequest(
          scope: scope, target: target, accountID: account, reason: "r", onBehalfOf: "a")),
      try method(
        WireMethods.unlinkAccount, "link", .app,
        UnlinkAccountRequest(scope: scope, target: target, reason: "r", onBehalfOf: "a")),
      try method(
        WireMethods.transferPurchase, "link", .app,
        TransferPurchaseRequest(
          scope: scope, target: target, fromAccountID: "other", toAccountID: account, reason: "r",
          onBehalfOf: "a")),
      try method(
        WireMethods.mergeAccounts, "link", .app,
        MergeAccountsRequest(
          scope: scope, fromAccountID: "other", intoAccountID: account, reason: "r", onBehalfOf: "a"
        )),
      try method(
        WireMethods.listLinks, "list", .app, ListLinksRequest(scope: scope, accountID: account)),
      try method(
        WireMethods.bindAccountToken, "link", .app,
        BindAccountTokenRequest(
          scope: scope, appAccountToken: AppAccountToken(one), accountID: account, reason: "r",
          onBehalfOf: "a")),
      try method(
        WireMethods.listAccountTokens, "list", .app,
        ListAccountTokensRequest(scope: scope, accountID: account)),
      try method(
        WireMethods.getLinkHistory, "list", .app,
        GetLinkHistoryRequest(scope: scope, subject: .target(target))),
      try method(
        WireMethods.addGrant, "grant", .app,
        AddGrantRequest(
          scope: scope, accountID: account, entitlementID: "unknown", reason: "r", onBehalfOf: "a")),
      try method(
        WireMethods.withdrawGrant, "grant", .app,
        WithdrawGrantRequest(grantID: GrantID(one), scope: scope, reason: "r", onBehalfOf: "a")),
      try method(
        WireMethods.listGrants, "list", .app, ListGrantsRequest(scope: scope, accountID: account)),
      try method(WireMethods.getCatalog, "metrics", .nothing, GetCatalogRequest()),
      try method(
        WireMethods.reloadCatalog, "catalog", .everything, ReloadCatalogRequest(isDryRun: true)),
      try method(WireMethods.listChanges, "list", .everything, ListChangesRequest()),
      try method(
        WireMethods.importArchivedResponse, "import", .nothing,
        ImportArchivedResponseRequest(bundleID: "com.example.other", response: [1])),
      try method(
        WireMethods.getCustomerHistory, "list", .app,
        GetCustomerHistoryRequest(scope: scope, accountID: account)),
      try method(
        WireMethods.exportCustomer, "export", .app,
        ExportCustomerRequest(scope: scope, accountID: account), isStream: true),
      try method(
        WireMethods.deleteCustomer, "erase", .app,
        DeleteCustomerRequest(scope: scope, accountID: account, reason: "r", onBehalfOf: "a")),
      try method(
        WireMethods.listUnlinkedChains, "list", .app, ListUnlinkedChainsRequest(scope: scope)),
      try method(WireMethods.getStatistics, "metrics", .nothing, GetStatisticsRequest()),
      try method(WireMethods.getServer, "metrics", .nothing, GetServerRequest()),
      try method(
        WireMethods.listAuditEntries, "audit", .everything, ListAuditEntriesRequest()),
      try method(
        WireMethods.listAuditEntries, "audit", .app,
        ListAuditEntriesRequest(app: scope.bundleID.rawValue)),
      try method(WireMethods.listAuditSeals, "audit", .everything, ListAuditSealsRequest()),
      try method(WireMethods.whoAmI, "identity", .nothing, WhoAmIRequest()),
      try method(
        WireMethods.getCredentials, "credentials", .everything, GetCredentialsRequest()),
      try method(
        WireMethods.reloadCredentials, "credentials", .everything,
        ReloadCredentialsRequest(isDryRun: true)),
      try method(WireMethods.checkHealth, "open", .nothing, HealthCheckRequest(service: "")),
      try method(
        WireMethods.watchHealth, "open", .nothing, HealthCheckRequest(service: ""), isStream: true),
    ]
  }

  /// The reason that the call is refused with; nil if it is not refused by access control.
  private func refusal(
    of method: Method, with metadata: [(key: String, value: String)], on connection: RPCConnection
  ) async throws -> String? {
    do {
      if method.isStream {
        let stream = connection.serverStream(
          service: method.service, method: method.name, payload: method.payload,
          metadata: metadata)
        let reading = Task {
          var iterator = stream.makeAsyncIterator()
          _ = try await iterator.next()
        }
        // Frames are handled in order: a stream that is refused has been refused by now.
        _ = try await connection.call(
          service: ServiceNames.health, method: "Check", payload: ByteBuffer())
        reading.cancel()
        try await reading.value
      } else {
        _ = try await connection.call(
          service: method.service, method: method.name, payload: method.payload,
          metadata: metadata)
      }
      return nil
    } catch let error as RPCClientError {
      guard case .status(let code) = error.code,
        [.unauthenticated, .permissionDenied].contains(code)
      else { return nil }
      return "\(code.name) \(error.errorInfo?.reason ?? "")"
    }
  }

  @Test("Every role with every scope, without a credential and with a wrong one, for every method")
  func matrix() async throws {
    let methods = try Self.methods()
    let members = Self.roles.keys.sorted().flatMap { role in
      Self.scopes.map { scope in
        BenchAccess.Member(
          name: "\(role)-\(scope.name)", fields: "roles: [\(role)]\n\(scope.fields)")
      }
    }
    let access = try BenchAccess(members)
    // Refused credentials must not end the connections of this test.
    let limits = RPCLimits(brokenFrames: 100_000)
    try await ServiceBench.run(limits: limits, access: access) { bench async throws in
      let connection = try await RPCConnection.connect(to: RPCTarget(bench.addresses[0]))
      var checked = 0
      for method in methods {
        for member in members {
          let parts = member.name.split(separator: "-")
          let role = try #require(Self.roles[String(parts[0])])
          let scope = try #require(Self.scopes.first { $0.name == parts[1] })
          let isPermitted =
            role.contains(method.permission) || ["open", "identity"].contains(method.permission)
          let isInScope =
            switch method.subject {
            case .nothing:
              method.name != "ImportArchivedResponse" || scope.name == "all"
                || scope.name == "other"
            case .app: scope.hasApp
            case .everything: scope.hasAll
            }
          let expected: String? =
            if !isPermitted {
              "PERMISSION_DENIED PERMISSION_MISSING"
            } else if !isInScope {
              "PERMISSION_DENIED APP_NOT_PERMITTED"
            } else {
              nil
            }
          #expect(
            try await refusal(of: method, with: member.metadata, on: connection) == expected,
            "\(method.name) by \(member.name)")
          checked += 1
        }
        let isOpen = method.permission == "open"
        #expect(
          try await refusal(of: method, with: [], on: connection)
            == (isOpen ? nil : "UNAUTHENTICATED CREDENTIAL_MISSING"), "\(method.name)")
        let wrong = [(key: "authorization", value: "Bearer \(AccessToken().text)")]
        #expect(
          try await refusal(of: method, with: wrong, on: connection)
            == (isOpen ? nil : "UNAUTHENTICATED CREDENTIAL_REFUSED"), "\(method.name)")
      }
      #expect(checked == methods.count * 28)
      await connection.close()
    }
  }

  @Test("The table has every method")
  func completeness() throws {
    let named = Set(try Self.methods().map { "\($0.service)/\($0.name)" })
    #expect(named == Set(WireMethods.permissions.keys))
  }

  @Test("The permission is checked before the request is decoded, and the scope before the store")
  func order() async throws {
    let reader = BenchAccess.Member(name: "r", fields: "roles: [reader]")
    let access = try BenchAccess([reader])
    try await ServiceBench.run(access: access) { bench async throws in
      let connection = try await RPCConnection.connect(to: RPCTarget(bench.addresses[0]))
      let malformed = Method(
        name: "AddGrant", service: ServiceNames.admin, permission: "grant", subject: .app,
        payload: ByteBuffer(bytes: [0xff, 0xff]))
      #expect(
        try await refusal(of: malformed, with: reader.metadata, on: connection)
          == "PERMISSION_DENIED PERMISSION_MISSING")
      await connection.close()
    }
  }
}
