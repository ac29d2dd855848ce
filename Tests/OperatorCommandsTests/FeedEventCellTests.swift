import EntitlementDomain
import Testing

@testable import OperatorCommands

@Suite("Events in a table")
struct FeedEventCellTests {
  @Test(
    "One cell says what, why and until when",
    arguments: [
      ([], "-"),
      ([FeedEvent(kind: .refunded, notificationUUID: "u")], "REFUNDED"),
      (
        [
          FeedEvent(
            kind: .consumptionRequested, notificationUUID: "u", deadline: 1_767_323_045_000,
            detail: "UNINTENDED_PURCHASE")
        ],
        "CONSUMPTION_REQUESTED until 2026-01-02 03:04:05Z"
      ),
      (
        [
          FeedEvent(kind: .sharingEnded, notificationUUID: "u"),
          FeedEvent(
            kind: .refetchDue, notificationUUID: "u", refetchReason: .statusMismatch,
            detail: "status 1, expected 2"),
        ],
        "SHARING_ENDED, REFETCH_DUE (STATUS_MISMATCH)"
      ),
    ] as [([FeedEvent], String)])
  func cell(events: [FeedEvent], text: String) {
    #expect(events.cell == text)
  }
}
