import AppStorePayloads
import Cryptography
import EntitlementDomain
import StoreSimulator
import Verification

/// The parsers of receipts. The first byte of an input selects one of four forms: a SET is the
/// content of a receipt, which is also signed; `{` starts an archived response; zero is followed by
/// changes to a genuine receipt, three bytes each (two for the position, one for the value);
/// anything else is a receipt in DER or base64.
enum ReceiptProbe {
  static func run(_ input: [UInt8]) throws(BrokenInvariant) {
    switch input.first {
    case DERTag.set: try checkContent(input)
    case UInt8(ascii: "{"): try checkArchive(input)
    case 0: try checkChanges(input.dropFirst())
    default: try checkReceipt(input)
    }
  }

  private static func checkContent(_ content: [UInt8]) throws(BrokenInvariant) {
    _ = try? DERWalk(content)
    guard let receipt = try? Receipt(content: content) else { return }
    let signer = FuzzReceiptSigner.shared
    guard let signed = try? signer.authority.sign(content: content) else { return }
    switch signer.outcome(of: signed) {
    case .success(let verified):
      try require(verified.receipt == receipt, "a signed receipt is equal to its content")
      try check(verified)
      if case .failure(let refusal) = signer.outcome(of: signed, deviceIdentifier: [1, 2, 3]) {
        try require(
          refusal.verdict == .wrongDevice, "a device changes no other verdict on a receipt"
        )
      }
    case .failure(let refusal):
      try require(
        refusal.verdict != .invalidSignature, "a signature is valid for any content")
    }
    try checkXcode(content, receipt)
  }

  /// The form of Xcode has the same content, and is accepted from Xcode alone.
  private static func checkXcode(
    _ content: [UInt8], _ receipt: Receipt
  ) throws(BrokenInvariant) {
    let signer = FuzzReceiptSigner.shared
    guard let signed = try? signer.xcode.sign(receiptContent: content) else { return }
    switch signer.outcome(of: signed) {
    case .success(let verified):
      try require(verified.receipt == receipt, "Xcode's form does not change the content")
      try require(receipt.environment == .xcode, "Xcode's form is accepted from Xcode alone")
      try check(verified)
    case .failure(let refusal):
      try require(
        refusal.verdict != .invalidSignature,
        "a signature in Xcode's form is valid for any content")
    }
  }

  private static func checkArchive(_ json: [UInt8]) throws(BrokenInvariant) {
    _ = try? ArchivedResponse(json)
    let statement = ArchivedResponse.Statement(
      bundleID: "com.example.scribe", environment: .production, asOf: 4_000_000_000_000)
    guard let response = try? ArchivedResponse(json, beside: statement) else { return }
    // Of a notification of version 1 only its unified_receipt is kept.
    let isWhole = MisplacedDocument(json)?.kind == .archivedResponse
    try check(response.facts, authority: .archivedResponse, document: isWhole ? json : nil)
  }

  /// A changed receipt is refused, or has the same content.
  private static func checkChanges(_ changes: ArraySlice<UInt8>) throws(BrokenInvariant) {
    let signer = FuzzReceiptSigner.shared
    guard !signer.genuine.isEmpty else { return }
    var receipt = signer.genuine
    var rest = changes
    while rest.count >= 3 {
      let change = Array(rest.prefix(3))
      rest = rest.dropFirst(3)
      receipt[(Int(change[0]) << 8 | Int(change[1])) % receipt.count] = change[2]
    }
    guard case .success(let verified) = signer.outcome(of: receipt) else { return }
    guard case .success(let original) = signer.outcome(of: signer.genuine) else {
      throw BrokenInvariant("a genuine receipt is accepted")
    }
    try require(
      verified.receipt == original.receipt, "a changed receipt has the same content")
    try check(verified)
  }

  private static func checkReceipt(_ input: [UInt8]) throws(BrokenInvariant) {
    _ = ReceiptForm.isReceipt(input)
    _ = try? DERWalk(input)
    let inspected = try? InspectedReceipt(input)
    let signer = FuzzReceiptSigner.shared
    switch (signer.outcome(of: input), signer.outcome(of: input, deviceIdentifier: [1, 2, 3])) {
    case (.success(let verified), _):
      try require(
        inspected?.receipt == verified.receipt, "verification and inspection agree")
      try check(verified)
    case (.failure(let refusal), .failure(let other)):
      try require(refusal == other, "a device does not change why a receipt is refused")
      try require(refusal.verdict != .ok, "a refusal is never OK")
    case (.failure, .success):
      throw BrokenInvariant("a device does not make a refused receipt valid")
    }
  }

  private static func check(_ verified: VerifiedReceipt) throws(BrokenInvariant) {
    try require(
      verified.facts.count == verified.receipt.items.count + 1,
      "a receipt has a fact for the app and one for each purchase")
    try check(verified.facts, authority: .receipt, document: nil)
  }

  /// - Parameter document: the document that proves the facts; nil if it is not available.
  private static func check(
    _ facts: [Result<SignedFact, Refusal>], authority: FactAuthority, document: [UInt8]?
  ) throws(BrokenInvariant) {
    for case .success(let fact) in facts {
      let payload = fact.signed.payload
      try require(fact.fact.authority == authority, "a fact has its document's authority")
      try require(
        (try? SHA256.digest(of: payload)).map { PayloadDigest(sha256: $0.words) }
          == fact.fact.digest, "a fact has its payload's digest")
      if let document {
        try require(
          fact.signed.proof == .document(document), "a fact is proved by its whole document")
      }
      var again: Fact
      do {
        again = try PayloadDecoder.fact(
          kind: fact.fact.kind, payload: payload, digest: fact.fact.digest,
          bundleID: fact.fact.scope.bundleID)
      } catch {
        throw BrokenInvariant("a fact of a receipt can be decoded again")
      }
      again.authority = authority
      try require(
        again.stored(under: fact.fact.key.identifier) == fact.fact,
        "a fact of a receipt decodes to the same again")
    }
  }
}
