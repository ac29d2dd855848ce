import EntitlementDomain
import NIOCore
import Testing

@testable import Wire

@Suite("Limits of messages")
struct MessageLimitTests {
  @Test("An identifier of 256 bytes is read, a longer one is refused")
  func identifiers() throws {
    func request(_ length: Int) -> GetCustomerStateRequest {
      GetCustomerStateRequest(
        customer: .account(AccountID(String(repeating: "a", count: length))),
        scope: MessageSample.scope)
    }
    #expect(try GetCustomerStateRequest.decode(from: request(256).encoded()) == request(256))
    #expect(
      throws: MessageError(
        .tooLong(field: "account_id", limit: 256), in: "entitle.v1.CustomerSelector")
    ) {
      try GetCustomerStateRequest.decode(from: request(257).encoded())
    }
  }

  @Test("A batch of 256 customers is read, a larger one is refused")
  func batches() throws {
    func request(_ count: Int) -> BatchGetCustomerStateRequest {
      BatchGetCustomerStateRequest(
        customers: (0..<count).map { .account(AccountID("account-\($0)")) },
        scope: MessageSample.scope)
    }
    #expect(try BatchGetCustomerStateRequest.decode(from: request(256).encoded()) == request(256))
    #expect(
      throws: MessageError(
        .tooMany(field: "customers", limit: 256), in: "entitle.v1.BatchGetCustomerStateRequest")
    ) {
      try BatchGetCustomerStateRequest.decode(from: request(257).encoded())
    }
  }

  @Test("A submission of 500 large payloads is read, one of 501 is refused")
  func submissions() throws {
    func request(_ count: Int) -> SubmitSignedTransactionsRequest {
      SubmitSignedTransactionsRequest(
        signedPayloads: (0..<count).map { "\($0)." + String(repeating: "a", count: 8_000) })
    }
    #expect(
      try SubmitSignedTransactionsRequest.decode(from: request(500).encoded()) == request(500))
    #expect(
      throws: MessageError(
        .tooMany(field: "items", limit: 500), in: "entitle.v1.SubmitSignedTransactionsRequest")
    ) {
      try SubmitSignedTransactionsRequest.decode(from: request(501).encoded())
    }
  }

  @Test("A receipt of 1.5 MiB is read, a longer one refused; a device has at most 64 bytes")
  func receipts() throws {
    func decode(_ length: Int, device: Int = 0) throws -> SubmitReceiptRequest {
      let request = SubmitReceiptRequest(
        receipt: [UInt8](repeating: 0xff, count: length),
        deviceIdentifier: [UInt8](repeating: 0, count: device))
      return try SubmitReceiptRequest.decode(from: request.encoded())
    }
    let limit = 3 << 19
    #expect(try decode(limit).receipt == [UInt8](repeating: 0xff, count: limit))
    #expect(
      throws: MessageError(
        .tooLong(field: "receipt", limit: limit), in: "entitle.v1.SubmitReceiptRequest")
    ) { try decode(limit + 1) }
    #expect(try decode(1).deviceIdentifier == nil)
    #expect(try decode(1, device: 64).deviceIdentifier == [UInt8](repeating: 0, count: 64))
    #expect(
      throws: MessageError(
        .tooLong(field: "device_identifier", limit: 64), in: "entitle.v1.SubmitReceiptRequest")
    ) { try decode(1, device: 65) }
    // 1 MiB of DER as base64, in lines of 64 characters that end with CR and LF.
    let base64 = ((1 << 20) + 2) / 3 * 4
    #expect(base64 + (base64 + 63) / 64 * 2 <= limit)
  }

  @Test("An archived response of 4 MiB less 4 KiB is read, a longer one is refused")
  func archivedResponses() throws {
    func decode(_ length: Int) throws -> ImportArchivedResponseRequest {
      let request = ImportArchivedResponseRequest(
        bundleID: "b", response: [UInt8](repeating: 0x20, count: length))
      return try ImportArchivedResponseRequest.decode(from: request.encoded())
    }
    let limit = (4 << 20) - 4_096
    #expect(try decode(limit).response.count == limit)
    #expect(
      throws: MessageError(
        .tooLong(field: "response", limit: limit), in: "entitle.v1.ImportArchivedResponseRequest")
    ) { try decode(limit + 1) }
  }

  @Test(
    "Identifiers in a submission of a receipt are limited",
    arguments: [(1, "bundle_id"), (2, "account_id")] as [(UInt64, String)])
  func receiptIdentifiers(field: UInt64, name: String) {
    func bytes(_ length: Int) -> MessageBytes {
      MessageBytes().field(field, text: String(repeating: "a", count: length)).field(3, text: "r")
    }
    #expect(throws: Never.self) { try SubmitReceiptRequest.decode(from: bytes(256).buffer) }
    #expect(
      throws: MessageError(.tooLong(field: name, limit: 256), in: "entitle.v1.SubmitReceiptRequest")
    ) { try SubmitReceiptRequest.decode(from: bytes(257).buffer) }
  }

  @Test("A page token of 1024 bytes is read, a longer one is refused; so is a negative page size")
  func pages() throws {
    func request(_ length: Int) -> ListCustomersRequest {
      ListCustomersRequest(
        scope: MessageSample.scope, pageToken: String(repeating: "t", count: length))
    }
    #expect(try ListCustomersRequest.decode(from: request(1_024).encoded()) == request(1_024))
    #expect(
      throws: MessageError(
        .tooLong(field: "page_token", limit: 1_024), in: "entitle.v1.ListCustomersRequest")
    ) {
      try ListCustomersRequest.decode(from: request(1_025).encoded())
    }
    let negative = MessageBytes().field(1, text: "a").field(3, number: .max)
    #expect(
      throws: MessageError(.outOfRange(field: "page_size"), in: "entitle.v1.ListCustomersRequest")
    ) {
      try ListCustomersRequest.decode(from: negative.buffer)
    }
  }

  @Test("A request may have a catalog of 1 MiB, not a longer one; an empty one is absent")
  func catalogs() throws {
    func request(_ length: Int) -> ExplainCustomerStateRequest {
      ExplainCustomerStateRequest(
        customer: .account("a"), scope: MessageSample.scope,
        catalogYAML: String(repeating: "#", count: length))
    }
    let limit = 1 << 20
    #expect(
      try ExplainCustomerStateRequest.decode(from: request(limit).encoded()) == request(limit))
    #expect(
      throws: MessageError(
        .tooLong(field: "catalog_yaml", limit: limit),
        in: "entitle.v1.ExplainCustomerStateRequest")
    ) {
      try ExplainCustomerStateRequest.decode(from: request(limit + 1).encoded())
    }
    #expect(try ExplainCustomerStateRequest.decode(from: request(0).encoded()).catalogYAML == nil)
  }

  @Test("Reasons of 1024 bytes and names of 256 are read, longer ones are refused")
  func operatorTexts() throws {
    func add(reason: Int = 1, onBehalfOf: Int = 1) throws -> AddGrantRequest {
      let request = AddGrantRequest(
        scope: MessageSample.scope, accountID: "a", entitlementID: "p",
        reason: String(repeating: "r", count: reason),
        onBehalfOf: String(repeating: "o", count: onBehalfOf))
      return try AddGrantRequest.decode(from: request.encoded())
    }
    func withdraw(reason: Int = 1, onBehalfOf: Int = 1) throws -> WithdrawGrantRequest {
      let request = WithdrawGrantRequest(
        grantID: "7c9e6679-7425-40de-944b-e07fc1f90ae7", scope: MessageSample.scope,
        reason: String(repeating: "r", count: reason),
        onBehalfOf: String(repeating: "o", count: onBehalfOf))
      return try WithdrawGrantRequest.decode(from: request.encoded())
    }
    #expect(try add(reason: 1_024, onBehalfOf: 256).reason.count == 1_024)
    #expect(try withdraw(reason: 1_024, onBehalfOf: 256).onBehalfOf?.count == 256)
    let reason = MessageFault.tooLong(field: "reason", limit: 1_024)
    let onBehalfOf = MessageFault.tooLong(field: "on_behalf_of", limit: 256)
    #expect(throws: MessageError(reason, in: "entitle.v1.AddGrantRequest")) {
      try add(reason: 1_025)
    }
    #expect(throws: MessageError(onBehalfOf, in: "entitle.v1.AddGrantRequest")) {
      try add(onBehalfOf: 257)
    }
    #expect(throws: MessageError(reason, in: "entitle.v1.WithdrawGrantRequest")) {
      try withdraw(reason: 1_025)
    }
    #expect(throws: MessageError(onBehalfOf, in: "entitle.v1.WithdrawGrantRequest")) {
      try withdraw(onBehalfOf: 257)
    }
  }

  @Test("Identifiers of a grant are limited", arguments: [2, 4, 5] as [UInt64])
  func grantIdentifiers(field: UInt64) throws {
    let names: [UInt64: String] = [2: "bundle_id", 4: "account_id", 5: "entitlement_id"]
    func bytes(_ length: Int) -> MessageBytes {
      names.keys.sorted().reduce(MessageBytes().field(8, text: "r").field(9, text: "o")) {
        $0.field($1, text: String(repeating: "a", count: $1 == field ? length : 1))
      }
    }
    #expect(throws: Never.self) { try AddGrantRequest.decode(from: bytes(256).buffer) }
    let name = try #require(names[field])
    #expect(
      throws: MessageError(
        .tooLong(field: name, limit: 256), in: "entitle.v1.AddGrantRequest")
    ) {
      try AddGrantRequest.decode(from: bytes(257).buffer)
    }
  }

  @Test("A negative page size of the feed is refused")
  func changePages() {
    let negative = MessageBytes().field(2, number: .max)
    #expect(
      throws: MessageError(.outOfRange(field: "page_size"), in: "entitle.v1.ListChangesRequest")
    ) {
      try ListChangesRequest.decode(from: negative.buffer)
    }
  }

  @Test(
    "A small message that would take much memory is refused, and the next one is read",
    arguments: [100_000, 500_000])
  func amplification(count: Int) throws {
    var buffer = ByteBuffer()
    for _ in 0..<count { buffer.writeBytes([0x1a, 0x00]) }
    #expect(
      throws: MessageError(.arenaExhausted, in: "entitle.v1.SubmitSignedTransactionsRequest")
    ) {
      try SubmitSignedTransactionsRequest.decode(from: buffer)
    }
    let request = SubmitSignedTransactionsRequest(signedPayloads: ["a"])
    #expect(try SubmitSignedTransactionsRequest.decode(from: request.encoded()) == request)
  }

  @Test("Decoding may take 64 KiB and 16 times the size of the message, at most 8 MiB")
  func arenaSizes() {
    #expect(MessageLimits.decodingArenaSize(messageSize: 0) == 65_536)
    #expect(MessageLimits.decodingArenaSize(messageSize: 1_000) == 81_536)
    #expect(MessageLimits.decodingArenaSize(messageSize: 4 << 20) == 8 << 20)
    #expect(MessageLimits.decodingArenaSize(messageSize: .max) == 8 << 20)
  }

  @Test("An arena allocates up to its limit, aligned and disjoint, and again after the end")
  func arena() throws {
    let arena = MessageArena()
    for _ in 0..<3 {
      arena.begin(limit: 64 * 1_024)
      var pieces: [UnsafeMutableRawPointer] = []
      while let piece = arena.allocate(byteCount: 1_001) {
        piece.initializeMemory(as: UInt8.self, repeating: UInt8(pieces.count), count: 1_001)
        pieces.append(piece)
      }
      #expect(arena.isExhausted)
      // 64 KiB have room for 65 allocations of 1008 bytes; each of three chunks may waste the room
      // of one.
      #expect((62...65).contains(pieces.count))
      for (index, piece) in pieces.enumerated() {
        #expect(UInt(bitPattern: piece) % 8 == 0)
        let bytes = UnsafeRawBufferPointer(start: piece, count: 1_001)
        #expect(bytes.allSatisfy { $0 == UInt8(index) })
      }
      arena.end()
      #expect(!arena.isExhausted)
    }
  }

  @Test("An arena refuses sizes that no limit allows", arguments: [64 * 1_024 + 1, .max, .min, -1])
  func hugePiece(byteCount: Int) {
    let arena = MessageArena()
    arena.begin(limit: 64 * 1_024)
    #expect(arena.allocate(byteCount: byteCount) == nil)
    #expect(arena.isExhausted)
    arena.end()
  }

  @Test("Nested coding gets another arena")
  func nestedUse() throws {
    try MessageArena.withThreadArena(limit: 0) { outer throws(MessageError) in
      try MessageArena.withThreadArena(limit: 0) { inner throws(MessageError) in
        #expect(outer !== inner)
      }
      #expect(outer.isInUse)
    }
    var first: ObjectIdentifier?
    for _ in 0..<2 {
      try MessageArena.withThreadArena(limit: 0) { arena throws(MessageError) in
        #expect(first == nil || first == ObjectIdentifier(arena))
        first = ObjectIdentifier(arena)
      }
    }
  }
}
