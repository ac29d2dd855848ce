import EntitlementDomain
import EntitlementService
import EntitlementStore
import Logging
import StoreSimulator
import Testing
import Verification

@Suite("Notifications and their events (rules.md §8)")
struct NotificationEventTests {
  /// The first event of a first purchase, before it is signed, as the base of other notifications.
  private func purchase() throws -> StoreEvent {
    let start = SimulatedCalendar.floorDay(ServiceBench.now)
      .advanced(by: -10 * Milliseconds.dayLength)
    let timeline = Timeline(.firstPurchase, seed: 1, start: start, environment: .production)
    return try #require(timeline.events.first { $0.renewalInfo != nil })
  }

  private func notification(
    of bench: ServiceBench, _ change: (inout StoreNotification) -> Void
  ) throws -> String {
    var event = try purchase()
    var notification = try #require(event.notification)
    change(&notification)
    event.notification = notification
    return try #require(try bench.authority.sign(event).notification)
  }

  @Test("A request for consumption data is an event with its deadline, in the feed and only once")
  func consumption() async throws {
    try await ServiceBench.run { bench async throws in
      let jws = try notification(of: bench) {
        $0.type = "CONSUMPTION_REQUEST"
        $0.subtype = nil
        $0.consumptionRequestReason = "FULFILLMENT_ISSUE"
      }
      let result = try await bench.submit(notification: jws, account: "anna")
      let event = try #require(result.events.first { $0.kind == .consumptionRequested })
      let record = try #require(result.record)
      #expect(event.notificationUUID == record.uuid)
      #expect(event.deadline == record.signedDate?.advanced(by: 12 * Milliseconds.hourLength))
      #expect(event.detail == "FULFILLMENT_ISSUE")
      let feed = try await ChangeFeed(store: bench.store).changes(after: 0, limit: 10)
      // The request is days old: it cannot be answered any more (R86).
      let events = feed.flatMap(\.events)
      #expect(Array(events.dropLast()) == result.events)
      #expect(events.last?.kind == .consumptionNotSent && events.last?.detail == "ARRIVED_LATE")
      let anna = CustomerSubject.account(ServiceBench.scope, "anna")
      #expect(feed.filter { !$0.events.isEmpty }.map(\.subject) == [anna, anna])

      let again = try await bench.submit(notification: jws, account: "anna")
      #expect(again.wasKnown)
      #expect(again.events.isEmpty)
      #expect(try await ChangeFeed(store: bench.store).changes(after: 0, limit: 10) == feed)
      #expect(bench.counters[.notificationAccepted] == 1)
      #expect(bench.counters[.notificationDuplicate] == 1)
    }
  }

  @Test("R47: a different status of Apple is counted, flagged and logged, without a payload")
  func statusMismatch() async throws {
    try await ServiceBench.run { bench async throws in
      let agreed = try await bench.submit(
        notification: try notification(of: bench) {
          $0.uuid = "00000000-0000-0000-0000-00000000000a"
        }
      )
      #expect(agreed.events.isEmpty)
      #expect(bench.counters[.statusMismatch] == 0)
      let uuid: NotificationUUID = "00000000-0000-0000-0000-00000000000b"
      let other = try await bench.submit(
        notification: try notification(of: bench) {
          $0.status = 4
          $0.uuid = uuid
        })
      #expect(other.verdict == .ok)
      #expect(other.events.map(\.refetchReason) == [.statusMismatch])
      #expect(bench.counters[.statusMismatch] == 1)
      let lines = bench.log.lines(at: .warning)
      #expect(lines.count == 1)
      #expect(lines.first?.metadata["notification"] == uuid.rawValue)
      #expect(lines.first?.metadata["detail"] == other.events.first?.detail)
      #expect(lines.first?.metadata["detail"]?.contains("GRACE") == true)
    }
  }

  @Test("Case 25: a TEST notification is a success without facts, customers or events")
  func test() async throws {
    try await ServiceBench.run { bench async throws in
      let notification = StoreNotification(
        type: "TEST", subtype: nil, uuid: "00000000-0000-0000-0000-00000000000e",
        signedDate: ServiceBench.now, environment: .production,
        appAppleID: SimulatedApp.appAppleID, bundleID: SimulatedApp.bundleID, status: nil)
      let jws = try bench.authority.sign(
        payloadJSON: notification.json(signedTransaction: nil, signedRenewalInfo: nil))
      let result = try await bench.submit(notification: jws)
      #expect(result.verdict == .ok)
      #expect(result.record?.type == "TEST")
      let line = bench.log.lines(at: .info).first { $0.message.contains("test notification") }
      #expect(
        line?.metadata == [
          "bundle_id": "\(SimulatedApp.bundleID)", "environment": "Production",
        ])
      #expect(result.items.isEmpty)
      #expect(result.customers.isEmpty)
      #expect(result.events.isEmpty)
      #expect(bench.counters[.notificationAccepted] == 1)
    }
  }

  @Test("Case 26: unknown values are stored, counted, and answered with success (R10)")
  func unknown() async throws {
    try await ServiceBench.run { bench async throws in
      let type = try await bench.submit(
        notification: try notification(of: bench) {
          $0.type = "SOMETHING_NEW"
          $0.subtype = nil
          $0.uuid = "00000000-0000-0000-0000-00000000000c"
        })
      #expect(type.verdict == .ok)
      #expect(type.items.map(\.disposition) == [.added, .added])
      #expect(bench.counters[.unknownValue(.notificationType)] == 1)
      let subtype = try await bench.submit(
        notification: try notification(of: bench) {
          $0.subtype = "SOMEHOW"
          $0.uuid = "00000000-0000-0000-0000-00000000000d"
        })
      #expect(subtype.verdict == .ok)
      #expect(bench.counters[.unknownValue(.subtype)] == 1)

      let jws = try bench.purchase("7", #","revocationType":"REFUND_IN_KIND""#)
      for _ in 0..<2 {
        #expect(try await bench.submit([jws], account: "anna").items.map(\.verdict) == [.ok])
      }
      // A repeat is not counted again.
      #expect(bench.counters[.unknownValue(.revocationType)] == 1)
      #expect(
        bench.log.lines.filter { $0.metadata["field"] == "revocationType" }.map(\.metadata)
          == [["field": "revocationType", "value": "\"REFUND_IN_KIND\""]])
    }
  }

  @Test("Refusals are counted by verdict")
  func refused() async throws {
    try await ServiceBench.run { bench async throws in
      _ = try await bench.submit(["garbage", "more.garbage"])
      _ = try await bench.submit(notification: "garbage")
      #expect(bench.counters[.refused(.malformed)] == 3)
      _ = try await bench.submit([try bench.purchase()], bundleID: "com.example.elsewhere")
      #expect(bench.counters[.refused(.wrongApp)] == 1)
      #expect(bench.counters[.facts(.added)] == 0)
    }
  }
}
