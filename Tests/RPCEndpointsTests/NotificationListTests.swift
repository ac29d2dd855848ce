import EntitlementDomain
import EntitlementStore
import Framing
import RPCClient
import SQLiteStore
import ServiceSupport
import StoreSimulator
import Testing
import Wire

@Suite("The list of notifications on the wire", .timeLimit(.minutes(1)))
struct NotificationListTests {
  private static let scope = ServiceBench.scope

  /// A TEST notification of an app, as Apple signs it on request.
  private func submitTest(
    _ bench: ServiceBench, _ number: Int, environment: StoreEnvironment = .production
  ) async throws {
    let notification = StoreNotification(
      type: "TEST", subtype: nil,
      uuid: NotificationUUID("00000000-0000-4000-8000-00000000000\(number)"),
      signedDate: ServiceBench.now, environment: environment,
      appAppleID: environment == .production ? SimulatedApp.appAppleID : nil,
      bundleID: Self.scope.bundleID, status: nil)
    let response = try await bench.client.submitNotification(
      SubmitNotificationRequest(
        signedPayload: try bench.authority.sign(
          payloadJSON: notification.json(signedTransaction: nil, signedRenewalInfo: nil))))
    try #require(response.verdict == .ok, "\(response)")
  }

  /// Apple sends none today that names no app; a store keeps one that does.
  private func storeAppless(_ bench: ServiceBench) async throws {
    let payload = Array("{}".utf8)
    let record = NotificationRecord(
      uuid: "00000000-0000-4000-8000-0000000000ff", type: "NEW",
      digest: try StoredPayload.digest(of: payload))
    _ = try await bench.store.commit(
      Submission(
        facts: [],
        notification: SignedNotification(
          record: record, signed: SignedPayload(header: [1], payload: payload, signature: [2])),
        receivedAt: ServiceBench.now))
  }

  private func client(_ bench: ServiceBench, _ member: BenchAccess.Member) -> EntitlementClient {
    EntitlementClient(
      bench.addresses[0],
      configuration: EntitlementClientConfiguration(
        metadata: member.metadata, waitingTime: .seconds(60), retries: .off))
  }

  @Test("A TEST notification is listed, beside those of customers, in pages of any size")
  func list() async throws {
    try await ServiceBench.run { bench async throws in
      let event = try #require(
        try bench.signed(.firstPurchase, seed: 1).first { $0.notification != nil })
      let response = try await bench.client.submitNotification(
        SubmitNotificationRequest(
          signedPayload: try #require(event.notification), accountID: "anna"))
      try await submitTest(bench, 1)
      try await submitTest(bench, 1)

      let all = try await bench.client.listNotifications(ListNotificationsRequest())
      #expect(all.nextPageToken == nil)
      let (test, purchase) = (all.notifications[0], all.notifications[1])
      #expect(all.notifications.count == 2)
      #expect(
        test
          == ReceivedNotificationEntry(
            notificationUUID: "00000000-0000-4000-8000-000000000001", notificationType: "TEST",
            scope: Self.scope, signedDate: ServiceBench.now, receivedAt: test.receivedAt))
      #expect(purchase.notificationType == response.notificationType)
      #expect(purchase.subtype == response.subtype)
      #expect(purchase.status == 1)
      let chain = try #require(purchase.originalTransactionID)
      let links = try await bench.client.links(
        ListLinksRequest(scope: Self.scope, accountID: "anna"))
      #expect(links.links.map(\.target).contains(.chain(chain)))

      var paged: [ReceivedNotificationEntry] = []
      for try await entry in bench.client.notifications(ListNotificationsRequest(pageSize: 1)) {
        paged.append(entry)
      }
      #expect(paged == all.notifications)
    }
  }

  @Test("Filters are an app, an environment, a type and a moment")
  func filters() async throws {
    try await ServiceBench.run { bench async throws in
      try await submitTest(bench, 1)
      bench.time.set(bench.time.now.advanced(by: 10_000))
      try await submitTest(bench, 2, environment: .sandbox)
      try await storeAppless(bench)
      func found(_ request: ListNotificationsRequest) async throws -> [String] {
        try await bench.client.listNotifications(request).notifications.map {
          String($0.notificationUUID.rawValue.suffix(2))
        }
      }
      let app = Self.scope.bundleID
      let second = bench.time.now
      #expect(try await found(ListNotificationsRequest()) == ["ff", "02", "01"])
      #expect(try await found(ListNotificationsRequest(bundleID: app)) == ["02", "01"])
      #expect(try await found(ListNotificationsRequest(environment: .sandbox)) == ["02"])
      #expect(
        try await found(ListNotificationsRequest(bundleID: app, environment: .production))
          == ["01"])
      #expect(try await found(ListNotificationsRequest(bundleID: "com.example.other")) == [])
      #expect(try await found(ListNotificationsRequest(notificationType: "TEST")) == ["02", "01"])
      #expect(try await found(ListNotificationsRequest(notificationType: "NEW")) == ["ff"])
      #expect(
        try await found(ListNotificationsRequest(notificationType: "TEST", since: second))
          == ["02"])
    }
  }

  @Test("Requests that cannot be meant are INVALID_ARGUMENT")
  func invalid() async throws {
    try await ServiceBench.run { bench async throws in
      for request in [
        ListNotificationsRequest(pageToken: "next"), ListNotificationsRequest(pageToken: "1"),
        ListNotificationsRequest(pageToken: ":u"), ListNotificationsRequest(pageToken: "x:u"),
        ListNotificationsRequest(pageSize: -1),
        ListNotificationsRequest(notificationType: String(repeating: "T", count: 257)),
        ListNotificationsRequest(
          bundleID: BundleID(String(repeating: "b", count: 257))),
      ] {
        let failure = await #expect(throws: RPCClientError.self) {
          try await bench.client.listNotifications(request)
        }
        #expect(failure?.code == .status(.invalidArgument), "\(request)")
      }
    }
  }

  @Test("A caller of one app sees that app alone, and has to name it")
  func scopes() async throws {
    let limited = BenchAccess.Member(
      name: "limited", fields: "roles: [support]\napps: {\(Self.scope.bundleID): [Production]}")
    let access = try BenchAccess([limited])
    try await ServiceBench.run(access: access) { bench async throws in
      try await submitTest(bench, 1)
      try await submitTest(bench, 2, environment: .sandbox)
      try await storeAppless(bench)
      let client = client(bench, limited)
      let own = try await client.listNotifications(
        ListNotificationsRequest(bundleID: Self.scope.bundleID, environment: .production))
      #expect(own.notifications.map(\.scope) == [Self.scope])
      for request in [
        ListNotificationsRequest(), ListNotificationsRequest(bundleID: Self.scope.bundleID),
        ListNotificationsRequest(environment: .production),
        ListNotificationsRequest(bundleID: Self.scope.bundleID, environment: .sandbox),
        ListNotificationsRequest(bundleID: "com.example.other", environment: .production),
      ] {
        let failure = await #expect(throws: RPCClientError.self) {
          try await client.listNotifications(request)
        }
        #expect(failure?.code == .status(.permissionDenied), "\(request)")
      }
      #expect(
        try await bench.client.listNotifications(ListNotificationsRequest()).notifications.count
          == 3)
      await client.close()
    }
  }
}
