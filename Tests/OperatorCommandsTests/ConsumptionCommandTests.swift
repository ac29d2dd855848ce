import ArgumentParser
import EntitlementDomain
import Testing
import Wire

@testable import OperatorCommands

@Suite("The commands of consumption")
struct ConsumptionCommandTests {
  private static let scope = AppScope(bundleID: "com.example.scribe", environment: .sandbox)

  private static let refused = ConsumptionRequestEntry(
    requestID: 7, scope: scope, transactionID: "2000000001",
    notificationUUID: "3c9a17d2-64be-4f0b-9d11-000000000001", requestReason: "OTHER",
    requestedAt: 1_767_225_600_000, answerUntil: 1_767_268_800_000, state: .notSent,
    cause: .appleRefused, detail: "HTTP\u{1b} 400", attempts: 1, changedAt: 1_767_225_605_000,
    percentage: 42_500, delivery: .undeliveredWrongItem)

  @Test func `a table has a line for each request, with its cause`() {
    let newer = ConsumptionRequestEntry(
      requestID: 8, scope: Self.scope, transactionID: "2", requestedAt: 0, answerUntil: 0,
      attempts: 0, changedAt: 0)
    #expect(
      ConsumptionTable.text(of: [Self.refused, newer]) == """
        REQUEST  TRANSACTION  STATE     CAUSE          ASKED                 UNTIL                 ATTEMPTS  DETAIL
        7        2000000001   NOT_SENT  APPLE_REFUSED  2026-01-01 00:00:00Z  2026-01-01 12:00:00Z  1         HTTP\\u{1b} 400
        8        2            -         -              1970-01-01 00:00:00Z  1970-01-01 00:00:00Z  0         -
        """)
  }

  @Test func `one request has a line for each property that it has`() {
    #expect(
      ConsumptionTable.details(Self.refused) == """
        request         7
        app             com.example.scribe (Sandbox)
        transaction     2000000001
        state           NOT_SENT
        cause           APPLE_REFUSED
        detail          HTTP\\u{1b} 400
        reason          OTHER
        asked           2026-01-01 00:00:00Z
        until           2026-01-01 12:00:00Z
        attempts        1
        changed         2026-01-01 00:00:05Z
        consumed        42.5 %
        delivery        UNDELIVERED_WRONG_ITEM
        notification    3c9a17d2-64be-4f0b-9d11-000000000001
        """)
  }

  @Test func `consent has its author`() {
    let consent = ConsumptionConsentEntry(
      isConsented: true, recordedAt: 1_767_225_600_000, author: "backend", onBehalfOf: nil,
      reason: "a form")
    #expect(
      ConsumptionTable.consent(consent) == """
        consents        yes
        recorded        2026-01-01 00:00:00Z
        author          backend
        reason          a form
        """)
  }

  @Test(
    "What is not a percentage is refused",
    arguments: ["-1", "100.0001", "101", "", "half", "1e1"])
  func percentages(_ text: String) {
    #expect(PercentageArgument(argument: text) == nil)
    #expect(PercentageArgument(argument: "none")?.thousandths == .some(nil))
    #expect(PercentageArgument(argument: "0.001")?.thousandths == 1)
  }

  @Test(
    "Arguments are checked before a server is asked",
    arguments: [
      ["list", "--limit", "0"], ["list", "--all", "--limit", "3"], ["list", "--state", "lost"],
      ["show", ""], ["send", ""], ["consent", "get", ""], ["consent", "set", "", "yes"],
      ["consent", "set", "anna", "maybe"], ["percentage", "set", "2", "101"],
      ["percentage", "set", "2", "1", "--delivery", "lost"],
    ])
  func arguments(_ arguments: [String]) {
    #expect(throws: (any Error).self) {
      try EntitleControl.parseAsRoot(["consumption"] + arguments)
    }
  }
}
