import EntitlementDomain
import NIOCore
import Testing

@testable import Wire

extension MessageValueTests {
  @Test("Reasons of links have the names and numbers of Protos, and none is missing")
  func linkReasons() throws {
    let names = try #require(MessageProtos().enumerations["LinkReason"])
    #expect(names.count == LinkReason.everyReason.count + 1)
    for (number, name) in names where number != 0 {
      let reason = try #require(try linkReason(UInt64(number)), "\(name)")
      let written = "\(reason)".reduce(into: "LINK_REASON_") { text, character in
        text += (character.isUppercase ? "_" : "") + character.uppercased()
      }
      #expect(written == name)
    }
    for number in [0, 15, 77, UInt64.max] { #expect(try linkReason(number) == nil) }
  }

  private func linkReason(_ number: UInt64) throws -> LinkReason? {
    let link = MessageBytes().field(1, message: MessageBytes().field(1, text: "1"))
      .field(3, number: number)
    let response = try ListLinksResponse.decode(
      from: MessageBytes().field(1, message: link).buffer)
    return try #require(response.links.first).reason
  }

  @Test("Entries of a kind that only a newer server knows are left out")
  func newerTargets() throws {
    let newer = MessageBytes().field(77, text: "1")
    let known = MessageBytes().field(2, text: "7")
    let expected = LinkTarget.appTransaction("7")

    let response = MessageBytes().field(2, message: newer).field(2, message: known)
    #expect(try LinkResponse.decode(from: response.buffer).targets == [expected])

    // Links and events have their target in field 1.
    let both = MessageBytes().field(1, message: MessageBytes().field(1, message: newer))
      .field(1, message: MessageBytes().field(1, message: known))
    #expect(try ListLinksResponse.decode(from: both.buffer).links.map(\.target) == [expected])
    #expect(
      try GetLinkHistoryResponse.decode(from: both.buffer).events.map(\.target) == [expected])

    let step = { (target: MessageBytes) in
      MessageBytes().field(2, message: MessageBytes().field(1, message: target))
    }
    let entries = MessageBytes().field(2, message: MessageBytes().field(77, text: "1"))
      .field(2, message: step(newer)).field(2, message: step(known))
    #expect(
      try GetCustomerHistoryResponse.decode(from: entries.buffer).entries == [
        CustomerHistoryEntry(
          at: 0, occurrence: .link(LinkHistoryEntry(target: expected, at: 0, reason: nil)))
      ])
  }

  @Test("Kinds that only a newer server knows are left out of a change")
  func newerKinds() throws {
    let change = MessageBytes().field(2, text: "a").field(7, number: 77).field(7, number: 3)
      .field(7, number: 3).field(7, number: 0)
    let response = try WatchCustomerStatesResponse.decode(
      from: MessageBytes().field(2, message: change).buffer)
    #expect(response.change?.kinds == [.unlinked])
    #expect(response.change?.subject == nil)
  }

  @Test("A watch of an unknown kind is refused", arguments: [0, 8, UInt64.max])
  func unknownKinds(number: UInt64) {
    let bytes = MessageBytes().field(5, number: 1).field(5, number: number)
    #expect(throws: watchError(.unknownValue(field: "kinds"))) {
      try WatchCustomerStatesRequest.decode(from: bytes.buffer)
    }
  }

  @Test("A watch without an environment has all of them; an unknown environment is refused")
  func watchedEnvironment() throws {
    func environment(_ number: UInt64) throws -> StoreEnvironment? {
      let bytes = MessageBytes().field(3, number: number)
      return try WatchCustomerStatesRequest.decode(from: bytes.buffer).environment
    }
    #expect(try environment(0) == nil)
    #expect(try environment(1) == .production)
    #expect(try environment(2) == .sandbox)
    #expect(throws: watchError(.unknownValue(field: "environment"))) { try environment(5) }
  }

  @Test("A watch of accounts needs their app and environment, and no account is empty")
  func watchedAccounts() {
    let account = MessageBytes().field(4, text: "a")
    let cases: [(MessageBytes, String)] = [
      (account, "bundle_id"), (account.field(3, number: 2), "bundle_id"),
      (account.field(2, text: "b"), "environment"),
      (account.field(4, text: "").field(2, text: "b").field(3, number: 2), "account_ids"),
    ]
    for (bytes, field) in cases {
      #expect(throws: watchError(.missing(field: field))) {
        try WatchCustomerStatesRequest.decode(from: bytes.buffer)
      }
    }
  }

  private func watchError(_ fault: MessageFault) -> MessageError {
    MessageError(fault, in: "entitle.v1.WatchCustomerStatesRequest")
  }

  @Test("Missing fields of a link change are refused by name", arguments: linkRequests)
  func missingToLink(request: LinkRequestFields) {
    for missing in request.fields {
      let bytes = request.fields.filter { $0 != missing }.reduce(MessageBytes()) {
        $1.name == "target"
          ? $0.field($1.number, message: MessageBytes().field(1, text: "1"))
          : $0.field($1.number, text: $1.name)
      }
      #expect(throws: MessageError(.missing(field: missing.name), in: request.messageType)) {
        try request.decode(bytes.buffer)
      }
    }
  }

  @Test("A target needs exactly one id, which is not empty", arguments: linkRequests)
  func emptyTarget(request: LinkRequestFields) {
    guard request.fields.contains(where: { $0.name == "target" }) else { return }
    let cases: [(MessageBytes, String)] = [
      (MessageBytes(), "target"), (MessageBytes().field(1, text: ""), "original_transaction_id"),
      (MessageBytes().field(2, text: ""), "app_transaction_id"),
    ]
    for (target, name) in cases {
      let bytes = request.fields.reduce(MessageBytes()) {
        $1.name == "target"
          ? $0.field($1.number, message: target) : $0.field($1.number, text: $1.name)
      }
      #expect(throws: MessageError(.missing(field: name), in: "entitle.v1.LinkTarget")) {
        try request.decode(bytes.buffer)
      }
    }
  }

  struct LinkRequestFields: Sendable, CustomTestStringConvertible {
    struct Field: Hashable, Sendable {
      let number: UInt64
      let name: String
    }

    let messageType: String
    let fields: [Field]
    let decode: @Sendable (ByteBuffer) throws -> Void

    var testDescription: String { messageType }

    init<Message: WireMessage>(_ type: Message.Type, _ fields: KeyValuePairs<UInt64, String>) {
      messageType = "entitle.v1.\(type)"
      self.fields = fields.map { Field(number: $0.key, name: $0.value) }
      decode = { _ = try Message.decode(from: $0) }
    }
  }

  static let linkRequests = [
    LinkRequestFields(
      LinkAccountRequest.self,
      [1: "bundle_id", 3: "target", 4: "account_id", 5: "reason"]),
    LinkRequestFields(
      UnlinkAccountRequest.self, [1: "bundle_id", 3: "target", 4: "reason"]),
    LinkRequestFields(
      TransferPurchaseRequest.self,
      [1: "bundle_id", 3: "target", 5: "to_account_id", 6: "reason"]),
    LinkRequestFields(
      MergeAccountsRequest.self,
      [1: "bundle_id", 3: "from_account_id", 4: "into_account_id", 5: "reason"]),
    LinkRequestFields(
      BindAccountTokenRequest.self,
      [1: "bundle_id", 3: "app_account_token", 5: "reason"]),
    LinkRequestFields(ListAccountTokensRequest.self, [1: "bundle_id"]),
    LinkRequestFields(
      DeleteCustomerRequest.self,
      [1: "bundle_id", 3: "account_id", 4: "reason"]),
    LinkRequestFields(ListLinksRequest.self, [1: "bundle_id", 3: "account_id"]),
    LinkRequestFields(GetCustomerHistoryRequest.self, [1: "bundle_id", 3: "account_id"]),
    LinkRequestFields(ExportCustomerRequest.self, [1: "bundle_id", 3: "account_id"]),
  ]

  @Test("A history needs exactly one subject, and ResolveAccount a customer")
  func missingSubject() {
    let bundle = MessageBytes().field(1, text: "b")
    #expect(
      throws: MessageError(.missing(field: "subject"), in: "entitle.v1.GetLinkHistoryRequest")
    ) { try GetLinkHistoryRequest.decode(from: bundle.buffer) }
    for (field, name) in [
      3: "original_transaction_id", 4: "app_transaction_id", 5: "account_id",
    ] as [UInt64: String] {
      #expect(
        throws: MessageError(.missing(field: name), in: "entitle.v1.GetLinkHistoryRequest")
      ) { try GetLinkHistoryRequest.decode(from: bundle.field(field, text: "").buffer) }
    }
    #expect(
      throws: MessageError(.missing(field: "customer"), in: "entitle.v1.ResolveAccountRequest")
    ) { try ResolveAccountRequest.decode(from: MessageBytes().field(2, text: "b").buffer) }
  }

  @Test("A link and an event need their target")
  func missingTarget() {
    let empty = MessageBytes().field(1, message: MessageBytes())
    #expect(throws: MessageError(.missing(field: "target"), in: "entitle.v1.Link")) {
      try ListLinksResponse.decode(from: empty.buffer)
    }
    #expect(throws: MessageError(.missing(field: "target"), in: "entitle.v1.LinkEvent")) {
      try GetLinkHistoryResponse.decode(from: empty.buffer)
    }
  }
}
