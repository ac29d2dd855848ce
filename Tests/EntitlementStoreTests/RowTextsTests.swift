import EntitlementDomain
import EntitlementStore
import PayloadCompression
import TestSupport
import Testing

/// What a payload leaves out is taken from a fact when it is stored, and from the columns of its row when
/// it is read: both must be the same, or no payload can be read.
@Suite("Texts of rows")
struct RowTextsTests {
  private static let ids = [
    "2000000812345678", "704000000000000001", "200000081234567", "1", "",
    "5c0a8f4e-3b1d-4e2a-9f60-0123456789ab", "5C0A8F4E-3B1D-4E2A-9F60-0123456789AB", "AnyText-1",
    "Kaufbestätigung", String(repeating: "7", count: 63), String(repeating: "7", count: 64),
    String(repeating: "7", count: 65), String(repeating: "t", count: 64),
    String(repeating: "t", count: 65), String(repeating: "t", count: 300),
  ]

  @Test("Those of a fact and those of its packed columns are the same")
  func columns() throws {
    let vault = PayloadVault()
    var random = SeededRandom(for: "columns of rows")
    for _ in 0..<2_000 {
      let ids = (0..<4).map { _ in Self.ids.randomElement(using: &random)! }
      func sometimes(_ id: String) -> String? { Bool.random(using: &random) ? id : nil }
      let hints = FactHints(
        appTransactionID: sometimes(ids[1]).map { AppTransactionID($0) },
        appAccountToken: sometimes(ids[2]).map { AppAccountToken($0) },
        previousChain: sometimes(ids[3]).map { OriginalTransactionID($0) })
      let signed = Milliseconds(
        [0, -1, 1_700_000_000_000, .min, .max].randomElement(using: &random)!)
      let payload = Array(
        """
        {"transactionId":"\(ids[0])","appTransactionId":"\(ids[1])","appAccountToken":"\(ids[2])",\
        "previousOriginalTransactionId":"\(ids[3])","signedDate":\(signed.rawValue)}
        """.utf8)

      let ofFact = RowTexts(identifier: ids[0], hints: hints, signedDate: signed)
      var ofRow = RowTexts()
      try ofRow.append(packed: PackedIdentifier.bytes(of: ids[0]))
      try ofRow.append(packed: hints.appTransactionID?.packedBytes)
      try ofRow.append(packed: hints.appAccountToken?.packedBytes)
      try ofRow.append(packed: hints.previousChain?.packedBytes)
      ofRow.append(signed)

      let stored = vault.stored(payload, texts: ofFact)
      #expect(vault.stored(payload, texts: ofRow) == stored)
      let digest = try StoredPayload.digest(of: payload)
      #expect(try vault.payload(of: stored, digest: digest, texts: ofRow) == payload)
    }
  }

  @Test("A payload that was stored once can be read for ever")
  func formerPayload() throws {
    var texts = RowTexts()
    try texts.append(packed: [0x20, 0x00, 0x00, 0x08, 0x12, 0x34, 0x56, 0x78])
    try texts.append(packed: [0x70, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01])
    try texts.append(packed: Self.packedToken)
    try texts.append(packed: [0x10, 0x00, 0x00, 0x08, 0x7f])
    texts.append(1_700_000_000_000)
    let payload = Array(
      """
      {"transactionId":"2000000812345678","appTransactionId":"704000000000000001",\
      "appAccountToken":"5c0a8f4e-3b1d-4e2a-9f60-0123456789ab",\
      "previousOriginalTransactionId":"100000087","signedDate":1700000000000}
      """.utf8)
    let stored: [UInt8] = [
      0x03, 0x01, 0xcc, 0x01, 0x00, 0x00, 0x0d, 0x01, 0x00, 0x58, 0x02, 0x03, 0x65, 0x76, 0x69,
      0x6f, 0x75, 0x73, 0x4f, 0x04, 0x7d, 0x06, 0xfc, 0xb2, 0x06, 0xda, 0x7a, 0x93, 0x6e, 0x96,
      0x7d, 0xdb, 0xc9, 0x52, 0x8e, 0x75, 0x2f, 0x03, 0x43, 0xf6, 0xe9, 0x14,
    ]
    let digest = try StoredPayload.digest(of: payload)
    #expect(try PayloadVault().payload(of: stored, digest: digest, texts: texts) == payload)
  }

  private static let packedToken: [UInt8] = [
    0xfe, 0x5c, 0x0a, 0x8f, 0x4e, 0x3b, 0x1d, 0x4e, 0x2a, 0x9f, 0x60, 0x01, 0x23, 0x45, 0x67, 0x89,
    0xab,
  ]

  @Test(
    "Columns of another form are refused",
    arguments: [[], [0xa0], [0x1a], [0x1f, 0x10], [0xf1], [0xfe], [0xfe, 0x00], [0xfd, 0x31]]
      as [[UInt8]])
  func refusals(bytes: [UInt8]) {
    var texts = RowTexts()
    #expect(throws: StoreError.self) { try texts.append(packed: bytes) }
  }
}

extension RowTexts {
  fileprivate mutating func append(packed bytes: [UInt8]?) throws {
    guard let bytes else { return try append(packed: nil as UnsafeRawBufferPointer?) }
    try bytes.withUnsafeBytes { try append(packed: $0) }
  }
}
