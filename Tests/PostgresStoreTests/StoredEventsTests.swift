import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

@Suite("Events in a column")
struct StoredEventsTests {
  private static let samples: [[FeedEvent]] = [
    [],
    [FeedEvent(kind: .refunded, notificationUUID: "00000000-0000-0000-0000-000000000001")],
    [
      FeedEvent(
        kind: .consumptionRequested, notificationUUID: "a", originalTransactionID: "1",
        transactionID: "2", deadline: Milliseconds(.max), detail: "UNINTENDED_PURCHASE é"),
      FeedEvent(
        kind: .refetchDue, notificationUUID: "b", deadline: Milliseconds(-1),
        refetchReason: .renewalOverdue),
      FeedEvent(kind: .sharingEnded, notificationUUID: "", detail: ""),
    ],
  ]

  @Test("are read as they were written", arguments: samples)
  func roundTrip(events: [FeedEvent]) throws {
    #expect(try StoredEvents.decode(StoredEvents.encode(events)) == events)
  }

  @Test("are refused when anything is cut off, added or unknown", arguments: samples)
  func truncated(events: [FeedEvent]) {
    let bytes = StoredEvents.encode(events)
    for count in 0..<bytes.count {
      #expect(throws: StoreError.self) { try StoredEvents.decode(Array(bytes.prefix(count))) }
    }
    #expect(throws: StoreError.self) { try StoredEvents.decode(bytes + [0]) }
    #expect(throws: StoreError.self) { try StoredEvents.decode([2] + bytes.dropFirst()) }
  }

  @Test("of any bytes are read or refused")
  func randomBytes() {
    var random = SeededRandom(for: "Random bytes as stored events")
    for _ in 0..<20_000 {
      var bytes = random.bytes(upTo: 60)
      // Otherwise nearly all inputs are refused for their first byte.
      if bytes.count > 2 { bytes.replaceSubrange(0..<2, with: [1, 0]) }
      if let events = try? StoredEvents.decode(bytes) {
        #expect((try? StoredEvents.decode(StoredEvents.encode(events))) == events)
      }
    }
  }
}
