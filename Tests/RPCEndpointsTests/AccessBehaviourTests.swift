import AccessControl
import EntitlementDomain
import EntitlementService
import EntitlementStore
import Framing
import Logging
import NIOCore
import RPCClient
import RPCServer
import SQLiteStore
import ServiceSupport
import StoreSimulator
import Synchronization
import Testing
import TestSupport
import Wire

/// Callers on real sockets: answers in place, revocation, expiry, limits.
@Suite("Access control on sockets")
struct AccessBehaviourTests {
  private static let scope = ServiceBench.scope
  private typealias Metadata = [(key: String, value: String)]

  /// A caller of the app, and one of another app.
  private static let reader = BenchAccess.Member(
    name: "reader", fields: "roles: [submitter]\napps: {\(scope.bundleID): [Production]}")
  private static let stranger = BenchAccess.Member(
    name: "stranger", fields: "roles: [submitter]\napps: {com.example.other: [Production]}")

  private func connection(
    _ bench: ServiceBench, _ metadata: Metadata = []
  ) async throws -> RPCConnection {
    try await RPCConnection.connect(to: RPCTarget(bench.addresses[0], metadata: metadata))
  }

  private func client(_ bench: ServiceBench, _ member: BenchAccess.Member) -> EntitlementClient {
    EntitlementClient(
      bench.addresses[0],
      configuration: EntitlementClientConfiguration(
        metadata: member.metadata, waitingTime: .seconds(60), retries: .off))
  }

  private func read(
    _ connection: RPCConnection, _ metadata: Metadata = [], account: String = "one"
  ) async throws -> ByteBuffer {
    try await connection.call(
      service: ServiceNames.entitlements, method: "GetCustomerState",
      payload: try GetCustomerStateRequest(
        customer: .account(AccountID(account)), scope: Self.scope
      ).encoded(), metadata: metadata)
  }

  /// The reason of the failure; nil on success.
  private func reason(_ body: () async throws -> Void) async -> String? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? RPCClientError)?.errorInfo?.reason ?? "\(error)"
    }
  }

  /// Reads a stream to its end, and returns the reason of its failure.
  private func end(of stream: RPCMessageStream) async -> String? {
    await reason { for try await _ in stream {} }
  }

  @Test(
    "A cached answer of an app outside the scope is refused, also after calls that were allowed")
  func scopeOfCachedAnswers() async throws {
    let access = try BenchAccess([Self.reader, Self.stranger])
    try await ServiceBench.run(access: access) { bench async throws in
      let shared = try await connection(bench)
      for _ in 0..<4 {
        #expect(await reason { _ = try await read(shared, Self.reader.metadata) } == nil)
        #expect(
          await reason { _ = try await read(shared, Self.stranger.metadata) }
            == "APP_NOT_PERMITTED")
        #expect(await reason { _ = try await read(shared) } == "CREDENTIAL_MISSING")
        let twice = Self.reader.metadata + Self.reader.metadata
        #expect(await reason { _ = try await read(shared, twice) } == "CREDENTIAL_REFUSED")
      }
      // The same answer as without access control.
      #expect(try await read(shared, Self.reader.metadata).readableBytes > 20)
      await shared.close()
    }
  }

  @Test(
    "The scheme has no case; other schemes, no token and a token with more after it are refused")
  func schemes() async throws {
    let access = try BenchAccess([Self.reader])
    let token = Self.reader.token.text
    try await ServiceBench.run(
      limits: RPCLimits(brokenFrames: 1_000), access: access
    ) { bench async throws in
      let connection = try await connection(bench)
      for good in ["Bearer \(token)", "bearer \(token)", "BEARER \(token)"] {
        #expect(
          await reason { _ = try await read(connection, [("authorization", good)]) } == nil)
      }
      for bad in [
        "", "Bearer", "Bearer ", token, "Basic \(token)", "Bearer  \(token)", "Bearer \(token) ",
        "Bearer \(token)x", "Bearer \(token.dropLast())", "Bearer\u{0}\(token)",
      ] {
        #expect(
          await reason { _ = try await read(connection, [("authorization", bad)]) }
            == "CREDENTIAL_REFUSED", "\(bad.count) characters")
      }
      // Keys are case-sensitive: stock clients send lower case.
      #expect(
        await reason { _ = try await read(connection, [("Authorization", "Bearer \(token)")]) }
          == "CREDENTIAL_MISSING")
      await connection.close()
    }
  }

  @Test("One text for a wrong, an unknown and an expired token")
  func oneText() async throws {
    let time = ManualTime()
    let expired = BenchAccess.Member(
      name: "expired", fields: "roles: [reader]", expires: "2020-01-01T00:00:00Z")
    let access = try BenchAccess([Self.reader, expired], clock: { time.now })
    try await ServiceBench.run(access: access) { bench async throws in
      var texts: Set<String> = []
      for token in [AccessToken().text, expired.token.text, "not even a token"] {
        let connection = try await connection(bench)
        do {
          _ = try await read(connection, [("authorization", "Bearer \(token)")])
          Issue.record("the token was accepted")
        } catch let error as RPCClientError {
          texts.insert(error.description)
        }
        await connection.close()
      }
      #expect(texts == ["UNAUTHENTICATED: the credential is not valid"])
    }
  }

  @Test("A token that expires is refused from that moment, although it was accepted before")
  func expiry() async throws {
    let time = ManualTime()
    let expires = time.now.advanced(by: 60_000)
    let short = BenchAccess.Member(
      name: "short", fields: "roles: [reader]", expires: expires.rfc3339)
    let access = try BenchAccess([short], clock: { time.now })
    try await ServiceBench.run(access: access) { bench async throws in
      let connection = try await connection(bench, short.metadata)
      #expect(await reason { _ = try await read(connection) } == nil)
      time.set(expires.advanced(by: -1))
      #expect(await reason { _ = try await read(connection) } == nil)
      time.set(expires)
      #expect(await reason { _ = try await read(connection) } == "CREDENTIAL_REFUSED")
      await connection.close()
    }
  }

  @Test("A token that is removed is refused at the next call, and its watch ends")
  func revocation() async throws {
    let access = try BenchAccess([Self.reader, Self.stranger])
    try await ServiceBench.run(access: access) { bench async throws in
      let connection = try await connection(bench, Self.reader.metadata)
      let watch = connection.serverStream(
        service: ServiceNames.entitlements, method: "WatchCustomerStates",
        payload: try WatchCustomerStatesRequest(
          bundleID: Self.scope.bundleID, environment: Self.scope.environment
        ).encoded())
      #expect(await reason { _ = try await read(connection) } == nil)
      // Another caller of the file changes: the watch goes on.
      access.write([Self.reader])
      #expect(try await bench.client.reloadCredentials(dryRun: false).lastAttempt?.isValid == true)
      #expect(await reason { _ = try await read(connection) } == nil)

      access.write([])
      #expect(try await bench.client.reloadCredentials(dryRun: false).lastAttempt?.isValid == true)
      #expect(await reason { _ = try await read(connection) } == "CREDENTIAL_REFUSED")
      #expect(await end(of: watch) == "CREDENTIAL_REFUSED")
      await connection.close()
    }
  }

  @Test("A watch ends when its caller loses the permission or a part of the scope")
  func narrowing() async throws {
    for (fields, expected) in [
      ("roles: [metrics]", "PERMISSION_MISSING"),
      ("roles: [reader]\napps: {\(Self.scope.bundleID): [Sandbox]}", "APP_NOT_PERMITTED"),
    ] {
      var member = Self.reader
      let access = try BenchAccess([member])
      try await ServiceBench.run(access: access) { bench async throws in
        let connection = try await connection(bench, member.metadata)
        let watch = connection.serverStream(
          service: ServiceNames.entitlements, method: "WatchCustomerStates",
          payload: try WatchCustomerStatesRequest(
            bundleID: Self.scope.bundleID, environment: Self.scope.environment
          ).encoded())
        #expect(await reason { _ = try await read(connection) } == nil)
        member.fields = fields
        access.write([member])
        _ = try await bench.client.reloadCredentials(dryRun: false)
        #expect(await end(of: watch) == expected)
        await connection.close()
      }
    }
  }

  @Test("A broken file leaves the old credentials in force, and is told")
  func brokenFile() async throws {
    let access = try BenchAccess([Self.reader])
    try await ServiceBench.run(access: access) { bench async throws in
      let connection = try await connection(bench, Self.reader.metadata)
      let before = try await bench.client.credentials()
      for text in ["", "callers: [", "version: 1\ncallers: [{name: x}]"] {
        access.write(text: text)
        let answer = try await bench.client.reloadCredentials(dryRun: false)
        #expect(answer.lastAttempt?.isValid == false)
        #expect(answer.digest == before.digest)
        #expect(await reason { _ = try await read(connection) } == nil)
      }
      #expect(try await bench.client.credentials().lastAttempt?.isValid == false)
      await connection.close()
    }
  }

  @Test("A reload is in the audit trail before other credentials are in force")
  func auditedReload() async throws {
    let access = try BenchAccess([])
    try await ServiceBench.run(access: access) { bench async throws in
      access.write([Self.reader])
      let digest = try await bench.client.reloadCredentials(
        dryRun: false, onBehalfOf: "ada"
      ).digest
      let entries = try await bench.client.auditEntries(
        ListAuditEntriesRequest(method: "ReloadCredentials")
      ).reduce(into: [AuditedCallEntry]()) { $0.append($1) }
      #expect(entries.map(\.subject) == [digest])
      #expect(entries.map(\.author) == [access.admin.name])
      #expect(entries.map(\.onBehalfOf) == ["ada"])
    }
  }

  @Test(
    "When the audit trail cannot be written, what the file takes away is gone, and the rest waits")
  func unauditedReload() async throws {
    let access = try BenchAccess([Self.reader, Self.stranger])
    let isBroken = Mutex(true)
    let reloader = CredentialsReloader(
      source: access.source, holder: access.holder,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
      record: { call throws(StoreError) in
        if isBroken.withLock(\.self) { throw StoreError(.unavailable, "no database") }
      })
    let later = BenchAccess.Member(name: "later", fields: "roles: [reader]")
    access.write([Self.reader, later])
    func names() -> [String] { access.holder.snapshot.credentials.entries.map(\.caller.name) }
    let (attempt, isTransient) = await reloader.reload()
    #expect(!attempt.isValid && isTransient)
    #expect(attempt.failure?.contains("what the file takes away is gone") == true)
    #expect(names() == [access.admin.name, "reader"])
    isBroken.withLock { $0 = false }
    #expect(await reloader.reload().attempt.isValid)
    #expect(names() == [access.admin.name, "reader", "later"])
  }

  @Test("A caller of some apps is told no names of callers and no warnings of the server")
  func limitedMetrics() async throws {
    let limited = BenchAccess.Member(
      name: "limited", fields: "roles: [metrics]\napps: {\(Self.scope.bundleID): [Production]}")
    let access = try BenchAccess([limited, Self.reader])
    try await ServiceBench.run(access: access) { bench async throws in
      let reader = client(bench, Self.reader)
      #expect(await reason { _ = try await reader.statistics() } == "PERMISSION_MISSING")
      await reader.close()
      func names(_ client: EntitlementClient) async throws -> [String] {
        try await client.statistics().counters.map(\.name).filter {
          $0.hasPrefix("access.refused.permission_missing")
        }
      }
      let scraper = client(bench, limited)
      #expect(try await names(scraper) == ["access.refused.permission_missing"])
      let all = try await scraper.statistics().counters.map(\.name)
      #expect(all.contains("access.callers"))
      #expect(!all.contains { $0.hasSuffix(".reader") || $0.hasSuffix(".limited") })
      #expect(
        try await names(bench.client)
          == ["access.refused.permission_missing", "access.refused.permission_missing.reader"])
      #expect(try await scraper.server().warnings == [])
      await scraper.close()
    }
  }

  @Test("Each state of a watch is a read of its caller, and the watch waits for the rate")
  func watchRate() async throws {
    let limited = BenchAccess.Member(
      name: "limited", fields: "roles: [reader]\nlimits: {reads_per_second: 1}")
    let access = try BenchAccess([limited])
    try await ServiceBench.run(access: access) { bench async throws in
      let start = WatchCursor(position: try await bench.store.feedEnd())
      for number in 0..<8 {
        _ = try await bench.client.addGrant(
          AddGrantRequest(
            scope: Self.scope, accountID: AccountID("a\(number)"), entitlementID: "pro", reason: "r"
          ))
      }
      let connection = try await connection(bench, limited.metadata)
      let watch = connection.serverStream(
        service: ServiceNames.entitlements, method: "WatchCustomerStates",
        payload: try WatchCustomerStatesRequest(cursor: start.description).encoded())
      var states = 0
      for try await payload in watch {
        if try WatchCustomerStatesResponse.decode(from: payload).change?.state != nil {
          states += 1
        }
        if states == 8 { break }
      }
      // It has overdrawn the rate.
      #expect(await reason { _ = try await read(connection) } == "RATE_LIMITED")
      await connection.close()
    }
  }

  @Test(
    "The author of a decision is its caller, with proof and token; for whom it acts is beside it")
  func authors() async throws {
    let shop = BenchAccess.Member(name: "shop", fields: "roles: [admin]")
    let access = try BenchAccess([shop])
    try await ServiceBench.run(access: access) { bench async throws in
      let account = try await bench.submit(.firstPurchase)
      let client = client(bench, shop)
      let scope = Self.scope
      let grant = try await client.addGrant(
        AddGrantRequest(
          scope: scope, accountID: account, entitlementID: "pro", reason: "r", onBehalfOf: "ada"))
      #expect(grant.grant.author == "shop")
      #expect(grant.grant.onBehalfOf == "ada")
      let withdrawn = try await client.withdrawGrant(
        WithdrawGrantRequest(grantID: grant.grant.id, scope: scope, reason: "r"))
      #expect(withdrawn.grant.withdrawal?.author == "shop")
      #expect(withdrawn.grant.withdrawal?.onBehalfOf == nil)
      let target = try #require(
        try await client.links(ListLinksRequest(scope: scope, accountID: account)).links.first?
          .target)
      _ = try await client.unlinkAccount(
        UnlinkAccountRequest(scope: scope, target: target, reason: "r", onBehalfOf: "ada"))
      let steps = try await client.linkHistory(
        GetLinkHistoryRequest(scope: scope, subject: .target(target))
      ).events
      #expect(steps.map(\.author) == ["the-admin", "shop"])
      #expect(steps.map(\.onBehalfOf) == [nil, "ada"])
      for try await _ in try client.exportCustomer(
        ExportCustomerRequest(scope: scope, accountID: account, onBehalfOf: "grace"))
      {}
      _ = try await client.deleteCustomer(
        DeleteCustomerRequest(scope: scope, accountID: account, reason: "r", onBehalfOf: "grace"))
      // The name of another caller proves nothing.
      _ = try await client.addGrant(
        AddGrantRequest(
          scope: scope, accountID: "bert", entitlementID: "pro", reason: "r",
          onBehalfOf: access.admin.name))
      await client.close()

      let entries = try await bench.client.auditEntries(ListAuditEntriesRequest())
        .reduce(into: [AuditedCallEntry]()) { $0.append($1) }
        .sorted { $0.position < $1.position }
      #expect(
        entries.map(\.method) == [
          "AddGrant", "WithdrawGrant", "UnlinkAccount", "ExportCustomer", "DeleteCustomer",
          "AddGrant",
        ])
      #expect(
        entries.map(\.onBehalfOf) == ["ada", nil, "ada", "grace", "grace", access.admin.name])
      for entry in entries {
        #expect(entry.author == "shop")
        #expect(entry.proof == "token")
        #expect(entry.tokenID == shop.token.id)
      }
      func found(_ request: ListAuditEntriesRequest) async throws -> [AuditedCallEntry] {
        try await bench.client.listAuditEntries(request).entries
      }
      #expect(try await found(ListAuditEntriesRequest(author: "shop")).count == 6)
      #expect(try await found(ListAuditEntriesRequest(author: access.admin.name)).isEmpty)
      #expect(
        try await found(ListAuditEntriesRequest(onBehalfOf: "grace")).map(\.method)
          == ["ExportCustomer", "DeleteCustomer"])
    }
  }

  @Test("Beyond the rate, reads are refused with the time to wait, also cached ones")
  func rates() async throws {
    let limited = BenchAccess.Member(
      name: "limited", fields: "roles: [reader]\nlimits: {reads_per_second: 1}")
    let access = try BenchAccess([limited])
    try await ServiceBench.run(access: access) { bench async throws in
      let connection = try await connection(bench)
      var refused = 0
      for _ in 0..<50 {
        do {
          _ = try await read(connection, limited.metadata)
        } catch let error as RPCClientError {
          #expect(error.code == .status(.resourceExhausted))
          #expect(error.errorInfo?.reason == "RATE_LIMITED")
          let delay = try #require(error.retryDelay)
          #expect(delay > .zero && delay <= .seconds(600))
          refused += 1
        }
      }
      // The bucket has one token; a slow machine refills some.
      #expect(refused > 5)
      // Another caller is not affected.
      #expect(await reason { _ = try await read(connection, access.adminMetadata) } == nil)
      await connection.close()
    }
  }

  @Test("Explanations and reads of another moment have a rate of their own; submissions too")
  func otherRates() async throws {
    let limited = BenchAccess.Member(
      name: "limited",
      fields:
        "roles: [operator]\nlimits: {expensive_reads_per_second: 1, submissions_per_second: 1}")
    let access = try BenchAccess([limited])
    try await ServiceBench.run(access: access) { bench async throws in
      let client = client(bench, limited)
      let one = CustomerSelector.account("one")
      let explain = ExplainCustomerStateRequest(customer: one, scope: Self.scope)
      let past = GetCustomerStateRequest(
        customer: one, scope: Self.scope, at: ServiceBench.now.advanced(by: -1))
      var reasons: [String?] = []
      for _ in 0..<3 {
        reasons.append(await reason { _ = try await client.explain(explain) })
        reasons.append(await reason { _ = try await client.customerState(past) })
      }
      #expect(reasons.first == .some(nil))
      #expect(reasons.contains("RATE_LIMITED"))
      // Plain reads are not limited.
      #expect(
        await reason {
          _ = try await client.customerState(
            GetCustomerStateRequest(customer: one, scope: Self.scope))
        } == nil)
      // 60 payloads are 60 tokens: the next submission waits for them.
      let submission = SubmitSignedTransactionsRequest(
        signedPayloads: (0..<60).map { "a.b.\($0)" })
      #expect(await reason { _ = try await client.submitSignedTransactions(submission) } == nil)
      #expect(
        await reason { _ = try await client.submitSignedTransactions(submission) }
          == "RATE_LIMITED")
      await client.close()
    }
  }

  @Test("Connections beyond the caller's limit are refused until one closes")
  func connections() async throws {
    let limited = BenchAccess.Member(
      name: "limited", fields: "roles: [reader]\nlimits: {connections: 2}")
    let access = try BenchAccess([limited])
    try await ServiceBench.run(access: access) { bench async throws in
      let first = try await connection(bench, limited.metadata)
      let second = try await connection(bench, limited.metadata)
      let third = try await connection(bench)
      #expect(await reason { _ = try await read(first) } == nil)
      #expect(await reason { _ = try await read(second) } == nil)
      #expect(
        await reason { _ = try await read(third, limited.metadata) } == "TOO_MANY_CONNECTIONS")
      // Another caller may use the connection.
      #expect(await reason { _ = try await read(third, access.adminMetadata) } == nil)
      await first.close()
      try await eventually { await reason { _ = try await read(third, limited.metadata) } == nil }
      await second.close()
      await third.close()
    }
  }

  @Test("A submission of an app outside the scope is refused for its item, before the commit")
  func submissions() async throws {
    let access = try BenchAccess([Self.reader, Self.stranger])
    try await ServiceBench.run(access: access) { bench async throws in
      let payloads = try bench.signed(.firstPurchase, seed: 3).flatMap(\.facts)
      let refused = client(bench, Self.stranger)
      let answer = try await refused.submitSignedTransactions(
        SubmitSignedTransactionsRequest(
          signedPayloads: payloads + ["a.b.c"], accountID: "intruder"))
      #expect(answer.results.dropLast().allSatisfy { $0.verdict == .appNotPermitted })
      #expect(answer.results.last?.verdict == .malformed)
      #expect(answer.customers.isEmpty)
      // A request that names the app is refused as a whole.
      #expect(
        await reason {
          _ = try await refused.submitSignedTransactions(
            SubmitSignedTransactionsRequest(
              signedPayloads: payloads, bundleID: Self.scope.bundleID))
        } == "APP_NOT_PERMITTED")
      let changes = try await bench.client.changes(ListChangesRequest()).changes
      #expect(changes.isEmpty)
      await refused.close()

      let accepted = client(bench, Self.reader)
      let stored = try await accepted.submitSignedTransactions(
        SubmitSignedTransactionsRequest(signedPayloads: payloads, accountID: "owner"))
      #expect(stored.results.allSatisfy { $0.verdict == .ok })
      await accepted.close()
    }
  }

  @Test("A renewal info does not tell whether the chain of another app is stored")
  func renewalInfoOfAnother() async throws {
    let access = try BenchAccess([Self.stranger])
    try await ServiceBench.run(access: access) { bench async throws in
      let event = try #require(
        try bench.signed(.firstPurchase, seed: 1).first { $0.renewalInfo != nil })
      let request = SubmitSignedTransactionsRequest(
        signedPayloads: [try #require(event.renewalInfo)])
      let stranger = client(bench, Self.stranger)
      let before = try await stranger.submitSignedTransactions(request).results
      _ = try await bench.submit(.firstPurchase)
      #expect(try await stranger.submitSignedTransactions(request).results == before)
      #expect(before.map(\.verdict) == [.wrongApp])
      await stranger.close()
      #expect(
        try await bench.client.submitSignedTransactions(request).results.map(\.verdict) == [.ok])
    }
  }

  @Test("WhoAmI tells name, proof, roles, apps of the catalog and limits")
  func whoAmI() async throws {
    let limited = BenchAccess.Member(
      name: "limited",
      fields: """
        roles: [reader]
        permissions: [offers]
        apps: {\(Self.scope.bundleID): [Sandbox], com.example.unknown: [Production]}
        limits: {reads_per_second: 5, in_flight: 7}
        """, expires: "2097-01-01T00:00:00Z")
    let access = try BenchAccess([limited])
    try await ServiceBench.run(access: access) { bench async throws in
      let client = client(bench, limited)
      let answer = try await client.whoAmI()
      #expect(answer.name == "limited")
      #expect(answer.proof == .token)
      #expect(answer.tokenID == limited.token.id)
      #expect(answer.tokenExpires?.rfc3339.hasPrefix("2097-01-01") == true)
      #expect(answer.roles == ["reader"])
      #expect(answer.permissions == [.open, .identity, .read, .offers])
      #expect(!answer.hasAllApps)
      #expect(
        answer.apps == [PermittedApp(bundleID: Self.scope.bundleID, environments: [.sandbox])])
      #expect(answer.limits == CallerLimits(readsPerSecond: 5, inFlight: 7))
      await client.close()
    }
  }

  @Test("Without credentials every caller is local, and tokens are ignored")
  func withoutAccessControl() async throws {
    try await ServiceBench.run { bench async throws in
      let client = client(bench, Self.reader)
      let answer = try await client.whoAmI()
      #expect(answer.name == "local")
      #expect(answer.proof == nil)
      #expect(answer.hasAllApps)
      #expect(answer.apps.map(\.bundleID) == [Self.scope.bundleID])
      #expect(try await client.credentials().isEnabled == false)
      await client.close()
    }
  }

  @Test("A client that tries tokens loses its connection; its refusals are counted")
  func guessing() async throws {
    let access = try BenchAccess([Self.reader])
    try await ServiceBench.run(
      limits: RPCLimits(brokenFrames: 4), access: access
    ) { bench async throws in
      let connection = try await connection(bench)
      var refused = 0
      while true {
        do {
          _ = try await read(connection, [("authorization", "Bearer \(AccessToken().text)")])
          Issue.record("a random token was accepted")
        } catch let error as RPCClientError {
          guard error.code == .status(.unauthenticated) else { break }
          refused += 1
          if refused > 1_000 { break }
        }
      }
      #expect(refused >= 4 && refused < 1_000)
      #expect(bench.server.refusals[AccessRefusals.Key(nil, .refused)] ?? 0 >= refused)
    }
  }
}
