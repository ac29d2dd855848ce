import EntitlementDomain
import Testing
import Wire

@testable import OperatorCommands

@Suite("Tables of links and histories")
struct LinkTableTests {
  private let scope = AppScope(bundleID: "com.example.scribe", environment: .production)
  /// 2026-01-02 03:04:05Z.
  private let now: Milliseconds = 1_767_323_045_000

  private var steps: [LinkHistoryEntry] {
    [
      LinkHistoryEntry(target: .chain("2000000000"), at: now, toAccountID: "a", reason: .named),
      LinkHistoryEntry(
        target: .appTransaction("7"), at: now, fromAccountID: "a", toAccountID: "b",
        reason: .transferred, author: "shop", note: "a new sign-in",
        onBehalfOf: "ada"),
      LinkHistoryEntry(
        target: .chain("1"), at: now, isFromDeleted: true, reason: .deleted, author: "ada",
        note: "asked for"),
      LinkHistoryEntry(target: .chain("1"), at: now, isToDeleted: true, reason: nil),
    ]
  }

  @Test func `a link has its start, its reason, and whether it is signed and contested`() {
    let text = LinkTable.links([
      AccountLink(target: .chain("2000000000"), since: now, reason: .claimed),
      AccountLink(target: .appTransaction("7"), since: now, reason: .imported, isUnsigned: true),
      AccountLink(target: .chain("1"), since: now, reason: nil, isContested: true),
    ])
    #expect(
      text == """
        WHAT               SINCE                 REASON    SIGNED  CONTESTED
        chain 2000000000   2026-01-02 03:04:05Z  CLAIMED   yes     no
        app transaction 7  2026-01-02 03:04:05Z  IMPORTED  no      no
        chain 1            2026-01-02 03:04:05Z  -         yes     yes
        """)
  }

  @Test func `a token has its state, its account, and who bound it`() {
    let text = LinkTable.tokens([
      AccountToken(
        appAccountToken: "t1", state: .bound, accountID: "a", author: "ada", reason: "a ticket",
        since: now, onBehalfOf: nil),
      AccountToken(
        appAccountToken: "t2", state: .ambiguous, accountID: nil, author: nil, reason: nil,
        since: nil, onBehalfOf: nil),
    ])
    #expect(
      text == """
        TOKEN  STATE      ACCOUNT  SINCE                 AUTHOR  REASON
        t1     BOUND      a        2026-01-02 03:04:05Z  ada     a ticket
        t2     AMBIGUOUS  -        -                     -       -
        """)
  }

  @Test func `an entry has both accounts, and a deleted account differs from none`() {
    #expect(
      LinkTable.history(steps) == """
        TIME                  WHAT               FROM       TO         REASON       AUTHOR        NOTE
        2026-01-02 03:04:05Z  chain 2000000000   -          a          NAMED        -             -
        2026-01-02 03:04:05Z  app transaction 7  a          b          TRANSFERRED  shop for ada  a new sign-in
        2026-01-02 03:04:05Z  chain 1            (deleted)  -          DELETED      ada           asked for
        2026-01-02 03:04:05Z  chain 1            -          (deleted)  -            -             -
        """)
  }

  @Test func `moved chains are listed with the affected customers`() {
    let customers = [
      SubmittedCustomer(subject: .account("a"), scope: scope, revision: 12),
      SubmittedCustomer(subject: .unlinkedChain("1"), scope: scope, revision: 13),
    ]
    let done = LinkResponse(
      isChanged: true, targets: [.chain("1"), .appTransaction("7")], customers: customers)
    #expect(
      LinkOutput.text(of: done) == """
        CHANGED HANDS
        chain 1
        app transaction 7

        CUSTOMER  REVISION
        a         12
        chain 1   13
        """)
    let nothing = LinkResponse(isChanged: false, targets: [], customers: customers)
    #expect(
      LinkOutput.text(of: nothing) == """
        CUSTOMER  REVISION
        a         12
        chain 1   13
        """)
  }

  @Test func `each kind of history entry has its own form`() throws {
    let grant = Grant(
      id: "g", scope: scope, accountID: "a", entitlementID: "pro", starts: now, reason: "an outage",
      author: "shop", onBehalfOf: "ada", createdAt: now,
      withdrawal: GrantWithdrawal(at: now, author: "grace", reason: "over"))
    let entries = [
      CustomerHistoryEntry(at: now, occurrence: .link(steps[1])),
      CustomerHistoryEntry(at: now, occurrence: .grant(grant)),
      CustomerHistoryEntry(at: now, occurrence: .grantWithdrawal(grant)),
      CustomerHistoryEntry(
        at: now,
        occurrence: .notification(
          NotificationEntry(notificationUUID: "u", type: "DID_RENEW", subtype: "BILLING_RECOVERY"))),
    ]
    let rows = CustomerHistoryTable.text(of: entries).split(separator: "\n").dropFirst()
      .map { $0.dropFirst("2026-01-02 03:04:05Z  ".count) }
    #expect(
      rows == [
        "link: TRANSFERRED  app transaction 7: a to b        shop for ada  a new sign-in",
        "grant              pro, grant g, until -            shop for ada  an outage",
        "grant withdrawn    pro, grant g                     grace         over",
        "notification       DID_RENEW (BILLING_RECOVERY), u  -             -",
      ])
  }
}
