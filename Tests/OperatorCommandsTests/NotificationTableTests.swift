import ArgumentParser
import EntitlementDomain
import Testing
import Wire

@testable import OperatorCommands

@Suite("The table of notifications")
struct NotificationTableTests {
  @Test func `a notification has its app, its chain and its status, or a dash`() {
    let scope = AppScope(bundleID: "com.example.scribe", environment: .sandbox)
    let text = NotificationTable.text(of: [
      // 2026-01-02 03:04:05Z.
      ReceivedNotificationEntry(
        notificationUUID: "u1", notificationType: "TEST", scope: scope,
        signedDate: 1_767_323_044_000, receivedAt: 1_767_323_045_000),
      ReceivedNotificationEntry(
        notificationUUID: "u2", notificationType: "DID_RENEW", subtype: "BILLING_RECOVERY",
        scope: scope, signedDate: 1_767_323_043_000, receivedAt: 1_767_323_044_000,
        originalTransactionID: "2000000001", status: 1),
      ReceivedNotificationEntry(
        notificationUUID: "u\u{1b}", notificationType: "NEW", receivedAt: 1_767_323_043_000),
    ])
    #expect(
      text == """
        RECEIVED              SIGNED                TYPE       SUBTYPE           APP                           CHAIN       STATUS  UUID
        2026-01-02 03:04:05Z  2026-01-02 03:04:04Z  TEST       -                 com.example.scribe (Sandbox)  -           -       u1
        2026-01-02 03:04:04Z  2026-01-02 03:04:03Z  DID_RENEW  BILLING_RECOVERY  com.example.scribe (Sandbox)  2000000001  1       u2
        2026-01-02 03:04:03Z  -                     NEW        -                 -                             -           -       u\\u{1b}
        """)
  }

  @Test(
    "Arguments that cannot be meant are refused",
    arguments: [
      ["--limit", "0"], ["--limit", "3", "--all"], ["--type", ""], ["--bundle-id", ""],
      ["--bundle-id", "com.example.scribe", "--all-apps"], ["--since", "yesterday"],
      ["--environment", "test"],
    ])
  func refused(arguments: [String]) {
    #expect(throws: (any Error).self) { try NotificationListCommand.parse(arguments) }
  }
}
