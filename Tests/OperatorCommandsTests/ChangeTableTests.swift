import EntitlementDomain
import Testing
import Wire

@testable import OperatorCommands

@Suite("The table of the change feed")
struct ChangeTableTests {
  private let scope = AppScope(bundleID: "com.example.scribe", environment: .production)
  /// 2026-01-02 03:04:05Z.
  private let now: Milliseconds = 1_767_323_045_000

  @Test func `a row has the time, the customer, the kinds of change and the events`() {
    let event = FeedEvent(kind: .refunded, notificationUUID: "u")
    let text = ChangeTable.text(of: [
      ChangeEntry(
        sequence: 1, scope: scope, subject: .account("customer-1"), committedAt: now,
        hasFacts: true, isLinked: true),
      ChangeEntry(
        sequence: 2, scope: scope, subject: .unlinkedChain("2000000000"), committedAt: now,
        isUnlinked: true, hasGrants: true, events: [event]),
      ChangeEntry(sequence: 3, scope: scope, subject: nil, committedAt: now, events: [event]),
      ChangeEntry(
        sequence: 4, scope: scope, subject: .account("customer-1"), committedAt: now,
        isMerged: true, isDeleted: true),
    ])
    #expect(
      text == """
        SEQUENCE  TIME                  CUSTOMER          WHAT              EVENTS
        1         2026-01-02 03:04:05Z  customer-1        facts, linked     -
        2         2026-01-02 03:04:05Z  chain 2000000000  unlinked, grants  REFUNDED
        3         2026-01-02 03:04:05Z  -                 -                 REFUNDED
        4         2026-01-02 03:04:05Z  customer-1        merged, deleted   -
        """)
  }
}
