import EntitlementDomain
import NIOCore
import Testing

@testable import Framing

@testable import Wire

extension MessageLimitTests {
  @Test("A target has at most 256 bytes in a request, and any length in an answer")
  func targets() throws {
    func target(_ length: Int) -> LinkTarget {
      .appTransaction(AppTransactionID(String(repeating: "7", count: length)))
    }
    func request(_ length: Int) -> UnlinkAccountRequest {
      UnlinkAccountRequest(
        scope: MessageSample.scope, target: target(length), reason: "r", onBehalfOf: "o")
    }
    #expect(try UnlinkAccountRequest.decode(from: request(256).encoded()) == request(256))
    #expect(
      throws: MessageError(
        .tooLong(field: "app_transaction_id", limit: 256), in: "entitle.v1.LinkTarget")
    ) { try UnlinkAccountRequest.decode(from: request(257).encoded()) }
    // Signed ids have no such limit.
    let response = LinkResponse(isChanged: true, targets: [target(1_000)], customers: [])
    #expect(try LinkResponse.decode(from: response.encoded()) == response)
  }

  @Test("Reasons and names of a deletion have the limits of all such texts")
  func deletions() throws {
    func decode(reason: Int = 1, onBehalfOf: Int = 1) throws -> DeleteCustomerRequest {
      let request = DeleteCustomerRequest(
        scope: MessageSample.scope, accountID: "a", reason: String(repeating: "r", count: reason),
        onBehalfOf: String(repeating: "o", count: onBehalfOf))
      return try DeleteCustomerRequest.decode(from: request.encoded())
    }
    #expect(try decode(reason: 1_024, onBehalfOf: 256).reason.count == 1_024)
    #expect(
      throws: MessageError(
        .tooLong(field: "reason", limit: 1_024), in: "entitle.v1.DeleteCustomerRequest")
    ) { try decode(reason: 1_025) }
    #expect(
      throws: MessageError(
        .tooLong(field: "on_behalf_of", limit: 256), in: "entitle.v1.DeleteCustomerRequest")
    ) { try decode(onBehalfOf: 257) }
  }

  @Test("A watch has at most a cursor of 256 bytes and 1,000 accounts of 256 bytes")
  func watches() throws {
    func decode(cursor: Int = 1, accounts: Int = 1, account: Int = 1) throws
      -> WatchCustomerStatesRequest
    {
      let request = WatchCustomerStatesRequest(
        cursor: String(repeating: "1", count: cursor), bundleID: "b", environment: .sandbox,
        accountIDs: [AccountID](
          repeating: AccountID(String(repeating: "a", count: account)), count: accounts))
      return try WatchCustomerStatesRequest.decode(from: request.encoded())
    }
    #expect(try decode(cursor: 256, accounts: 1_000, account: 256).accountIDs.count == 1_000)
    let cases: [(MessageFault, () throws -> WatchCustomerStatesRequest)] = [
      (.tooLong(field: "cursor", limit: 256), { try decode(cursor: 257) }),
      (.tooMany(field: "account_ids", limit: 1_000), { try decode(accounts: 1_001) }),
      (.tooLong(field: "account_ids", limit: 256), { try decode(account: 257) }),
    ]
    for (fault, decoding) in cases {
      #expect(throws: MessageError(fault, in: "entitle.v1.WatchCustomerStatesRequest")) {
        try decoding()
      }
    }
  }

  @Test("A piece of an export has at most 1 MiB")
  func pieces() throws {
    func decode(_ length: Int) throws -> ExportedPiece {
      try ExportedPiece.decode(
        from: ExportedPiece(json: [UInt8](repeating: 0x20, count: length)).encoded())
    }
    let limit = 1 << 20
    #expect(try decode(limit).json.count == limit)
    #expect(
      throws: MessageError(.tooLong(field: "json", limit: limit), in: "entitle.v1.ExportedPiece")
    ) { try decode(limit + 1) }
  }

  @Test("A negative page size of unlinked chains is refused, and the token has a limit")
  func chainPages() {
    func error(_ fault: MessageFault) -> MessageError {
      MessageError(fault, in: "entitle.v1.ListUnlinkedChainsRequest")
    }
    let bundle = MessageBytes().field(1, text: "b")
    #expect(throws: error(.outOfRange(field: "page_size"))) {
      try ListUnlinkedChainsRequest.decode(from: bundle.field(3, number: .max).buffer)
    }
    let token = bundle.field(4, text: String(repeating: "t", count: 1_025))
    #expect(throws: error(.tooLong(field: "page_token", limit: 1_024))) {
      try ListUnlinkedChainsRequest.decode(from: token.buffer)
    }
  }

  @Test("Filters of notifications have limits, and an unknown environment is not all of them")
  func notificationFilters() {
    func error(_ fault: MessageFault) -> MessageError {
      MessageError(fault, in: "entitle.v1.ListNotificationsRequest")
    }
    let cases: [(MessageBytes, MessageFault)] = [
      (MessageBytes().field(5, number: .max), .outOfRange(field: "page_size")),
      (MessageBytes().field(2, number: 77), .unknownValue(field: "environment")),
      (
        MessageBytes().field(1, text: String(repeating: "b", count: 257)),
        .tooLong(field: "bundle_id", limit: 256)
      ),
      (
        MessageBytes().field(3, text: String(repeating: "T", count: 257)),
        .tooLong(field: "notification_type", limit: 256)
      ),
      (
        MessageBytes().field(6, text: String(repeating: "t", count: 1_025)),
        .tooLong(field: "page_token", limit: 1_024)
      ),
    ]
    for (bytes, fault) in cases {
      #expect(throws: error(fault)) { try ListNotificationsRequest.decode(from: bytes.buffer) }
    }
  }

  @Test("The longest history of usual size fits a frame, and can be read")
  func longHistory() throws {
    let step = LinkHistoryEntry(
      target: .chain("2000000000000001"), at: 1_700_000_000_000,
      fromAccountID: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
      toAccountID: "0d0f5a3e-2f0e-4d6e-9d0e-9a1c1f8f3b11", reason: .transferred,
      author: "support-tool", note: "moved to a new account on the customer's request",
      onBehalfOf: "support@example.com", tokenID: "k3Jd8sQz",
      traceID: "0af7651916cd43dd8448eb211c80319c")
    let response = GetLinkHistoryResponse(
      events: [LinkHistoryEntry](repeating: step, count: GetLinkHistoryResponse.maximumEvents))
    let encoded = try response.encoded()
    #expect(encoded.readableBytes < RPCLimits.maximumFrameData)
    #expect(try GetLinkHistoryResponse.decode(from: encoded) == response)
  }
}
