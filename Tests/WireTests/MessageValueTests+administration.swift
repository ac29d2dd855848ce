import EntitlementDomain
import NIOCore
import Testing

@testable import Wire

extension MessageValueTests {
  @Test("A source has exactly one of three origins", arguments: sources)
  func source(bytes: MessageBytes, expected: Result<EntitlementSource.Origin, MessageError>) throws
  {
    let entitlement = MessageBytes().field(1, text: "pro").field(2, message: bytes)
    let state = MessageBytes().field(1, text: "a").field(6, number: 2)
      .field(8, message: entitlement)
    func origin() throws(MessageError) -> EntitlementSource.Origin? {
      let answer = MessageBytes().field(1, message: state)
      guard case .state(let state) = try GetCustomerStateResponse.decode(from: answer.buffer)
      else { return nil }
      return state.entitlements.first?.sources.first?.origin
    }
    switch expected {
    case .success(let expected): #expect(try origin() == expected)
    case .failure(let error): #expect(throws: error) { try origin() }
    }
  }

  /// Field 1 is the transaction, 2 its chain, 3 the product, 6 the grant, 7 the rule.
  static let sources: [(MessageBytes, Result<EntitlementSource.Origin, MessageError>)] = {
    let purchase = MessageBytes().field(1, text: "2").field(2, text: "1").field(3, text: "p")
    return [
      (purchase, .success(.purchase("2", chain: "1", product: "p"))),
      (
        purchase.field(6, text: "").field(7, text: ""),
        .success(.purchase("2", chain: "1", product: "p"))
      ),
      (MessageBytes().field(6, text: "g"), .success(.grant("g"))),
      (MessageBytes().field(7, text: "r"), .success(.grandfathering("r"))),
      (MessageBytes(), .wrong(.missing(field: "transaction_id"))),
      (
        MessageBytes().field(2, text: "1").field(3, text: "p"),
        .wrong(.missing(field: "transaction_id"))
      ),
      (
        MessageBytes().field(1, text: "2").field(3, text: "p"),
        .wrong(.missing(field: "original_transaction_id"))
      ),
      (
        MessageBytes().field(1, text: "2").field(2, text: "1"),
        .wrong(.missing(field: "product_id"))
      ),
      (purchase.field(6, text: "g"), .wrong(.conflicting(field: "grant_id"))),
      (
        MessageBytes().field(3, text: "p").field(6, text: "g"),
        .wrong(.conflicting(field: "grant_id"))
      ),
      (purchase.field(7, text: "r"), .wrong(.conflicting(field: "grandfathering_rule_id"))),
      (
        MessageBytes().field(6, text: "g").field(7, text: "r"),
        .wrong(.conflicting(field: "grandfathering_rule_id"))
      ),
    ]
  }()

  @Test("Unknown grandfathering values are read as Protos say", arguments: [0, 77, UInt64.max])
  func newerGrandfathering(number: UInt64) throws {
    let rule = MessageBytes().field(1, text: "r").field(2, number: number)
      .field(3, number: number)
    let state = MessageBytes().field(1, text: "a").field(6, number: 1).field(12, message: rule)
    let answer = MessageBytes().field(1, message: state)
    guard case .state(let state) = try GetCustomerStateResponse.decode(from: answer.buffer) else {
      Issue.record("not a state")
      return
    }
    #expect(
      state.grandfathering == [
        GrandfatheringState(
          ruleID: "r", outcome: .unknown, reason: .noEvidence, isFlagged: false)
      ])
  }

  @Test("Events of an unknown kind are left out", arguments: [0, 77, UInt64.max])
  func newerEvents(number: UInt64) throws {
    let newer = MessageBytes().field(1, number: number).field(2, text: "u")
    let known = MessageBytes().field(1, number: 8).field(2, text: "u").field(6, number: number)
    let expected = [FeedEvent(kind: .refetchDue, notificationUUID: "u")]

    let change = MessageBytes().field(2, text: "a").field(11, message: newer)
      .field(11, message: known)
    let changes = try ListChangesResponse.decode(
      from: MessageBytes().field(1, message: change).buffer)
    #expect(changes.changes.map(\.events) == [expected])

    let notified = MessageBytes().field(9, message: known).field(9, message: newer)
    let response = try SubmitNotificationResponse.decode(from: notified.buffer)
    #expect(response.events == expected)
  }

  @Test("Items of an unknown kind are left out", arguments: [0, 77, UInt64.max])
  func newerItems(number: UInt64) throws {
    let decision = MessageBytes().field(1, number: number).field(2, text: "s")
    let newer = MessageBytes().field(1, number: number).field(6, message: decision)
    let known = MessageBytes().field(1, number: 4).field(6, message: decision)
    let reasoning = MessageBytes().field(1, message: decision).field(2, message: newer)
      .field(2, message: known)
    let state = MessageBytes().field(1, text: "a").field(6, number: 1)
    let group = MessageBytes().field(1, text: "g").field(2, number: number)
      .field(3, message: reasoning)
    let response = try ExplainCustomerStateResponse.decode(
      from: MessageBytes().field(1, message: state).field(3, message: group).buffer)
    let read = try #require(response.explanation.groups.first)
    #expect(read.status == .undetermined)
    #expect(read.reasoning.considered.map(\.kind) == [.grant])
    // Any number is accepted as a rule, −1 too.
    #expect(read.reasoning.decision.rule.number == Int(Int32(truncatingIfNeeded: number)))
  }

  @Test("An unknown link outcome is read as unchanged, an absent one as absent")
  func newerLinks() throws {
    let expected: [UInt64: SubmissionLinkOutcome?] = [
      0: nil, 4: .transferred, 5: .alreadyLinked, 6: .claimLimited, 7: .accountFull,
      8: .reclaimed, 9: .disputed, 10: .unchanged, .max: .unchanged,
    ]
    for (number, link) in expected {
      let item = MessageBytes().field(1, number: 1).field(7, number: number)
      let response = try SubmitSignedTransactionsResponse.decode(
        from: MessageBytes().field(1, message: item).buffer)
      #expect(response.results.map(\.link) == [link])
    }
  }

  @Test("A change without a customer has no subject, and a change needs its app")
  func changeSubject() throws {
    let change = MessageBytes().field(1, number: 3).field(2, text: "a")
    let response = try ListChangesResponse.decode(
      from: MessageBytes().field(1, message: change).buffer)
    #expect(response.changes.map(\.subject) == [nil])
    #expect(throws: MessageError(.missing(field: "bundle_id"), in: "entitle.v1.Change")) {
      try ListChangesResponse.decode(
        from: MessageBytes().field(1, message: MessageBytes()).buffer)
    }
  }

  @Test(
    "The id of a grant is a UUID",
    arguments: [
      "7c9e6679742540de944be07fc1f90ae7", "7c9e6679-7425-40de-944b-e07fc1f90ae",
      "7c9e6679-7425-40de-944b-e07fc1f90ae77", "7c9e6679-7425-40de-944be-07fc1f90ae7",
      "{c9e6679-7425-40de-944b-e07fc1f90ae}", "7c9e6679-7425-40de-944b-e07fc1f90aeg",
      "7c9e6679-7425-40de-944b-e07fc1f90aé", " 7c9e6679-7425-40de-944b-e07fc1f90ae",
      "-c9e6679-7425-40de-944b-e07fc1f90ae7", "grant",
    ])
  func grantID(text: String) {
    let add = MessageBytes().field(1, text: text).field(2, text: "b").field(4, text: "a")
      .field(5, text: "p").field(8, text: "r").field(9, text: "o")
    #expect(throws: MessageError(.notUUID(field: "grant_id"), in: "entitle.v1.AddGrantRequest")) {
      try AddGrantRequest.decode(from: add.buffer)
    }
    let withdraw = MessageBytes().field(1, text: text).field(2, text: "b").field(4, text: "r")
      .field(5, text: "o")
    #expect(
      throws: MessageError(.notUUID(field: "grant_id"), in: "entitle.v1.WithdrawGrantRequest")
    ) {
      try WithdrawGrantRequest.decode(from: withdraw.buffer)
    }
  }

  @Test(
    "Missing fields of AddGrant are refused by name",
    arguments: [2: "bundle_id", 4: "account_id", 5: "entitlement_id", 8: "reason"])
  func missingToAdd(field: UInt64, name: String) {
    let bytes = [2, 4, 5, 8, 9].filter { $0 != field }
      .reduce(MessageBytes()) { $0.field($1, text: "x") }
    #expect(throws: MessageError(.missing(field: name), in: "entitle.v1.AddGrantRequest")) {
      try AddGrantRequest.decode(from: bytes.buffer)
    }
  }

  @Test(
    "Missing fields of WithdrawGrant are refused by name",
    arguments: [1: "grant_id", 2: "bundle_id", 4: "reason"])
  func missingToWithdraw(field: UInt64, name: String) {
    let bytes = [1, 2, 4, 5].filter { $0 != field }.reduce(MessageBytes()) {
      $0.field($1, text: $1 == 1 ? "7c9e6679-7425-40de-944b-e07fc1f90ae7" : "x")
    }
    #expect(throws: MessageError(.missing(field: name), in: "entitle.v1.WithdrawGrantRequest")) {
      try WithdrawGrantRequest.decode(from: bytes.buffer)
    }
  }

  @Test("Missing fields of other requests and answers are refused by name")
  func missingElsewhere() {
    let bundle = MessageBytes().field(1, text: "b")
    let state = MessageBytes().field(1, message: bundle.field(6, number: 1))
    let decision = MessageBytes().field(1, message: MessageBytes())
    let unreasoned = state.field(2, message: bundle)
    let undecided = state.field(2, message: bundle.field(3, message: MessageBytes()))
    let item = MessageBytes().field(1, number: 1)
    let itemless = state.field(
      2, message: bundle.field(3, message: decision.field(2, message: item)))
    let cases: [(String, String, () throws -> Void)] = [
      ("bundle_id", "ListGrantsRequest", { _ = try ListGrantsRequest.decode(from: ByteBuffer()) }),
      (
        "account_id", "ListGrantsRequest",
        { _ = try ListGrantsRequest.decode(from: bundle.buffer) }
      ),
      ("grant", "GrantResponse", { _ = try GrantResponse.decode(from: ByteBuffer()) }),
      (
        "state", "ExplainCustomerStateResponse",
        { _ = try ExplainCustomerStateResponse.decode(from: ByteBuffer()) }
      ),
      (
        "reasoning", "EntitlementExplanation",
        { _ = try ExplainCustomerStateResponse.decode(from: unreasoned.buffer) }
      ),
      (
        "decision", "Reasoning",
        { _ = try ExplainCustomerStateResponse.decode(from: undecided.buffer) }
      ),
      (
        "decision", "ConsideredItem",
        { _ = try ExplainCustomerStateResponse.decode(from: itemless.buffer) }
      ),
    ]
    for (field, messageType, decode) in cases {
      #expect(throws: MessageError(.missing(field: field), in: "entitle.v1." + messageType)) {
        try decode()
      }
    }
  }
}

extension Result<EntitlementSource.Origin, MessageError> {
  fileprivate static func wrong(_ fault: MessageFault) -> Self {
    .failure(MessageError(fault, in: "entitle.v1.EntitlementSource"))
  }
}
