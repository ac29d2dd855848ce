import Cryptography
import EntitlementDomain
import JSON
import Verification

/// The splitter and the verifier of JWS: a JWS that can be split has one spelling, verdicts do not
/// depend on caches, and a verified payload is the signed one.
enum SignedPayloadProbe {
  static func run(_ input: [UInt8]) throws(BrokenInvariant) {
    let signer = FuzzSigner.shared
    let completed = signer.complete(input)
    // A hash of the input, not of the JWS: ECDSA signatures differ each time, and a finding must be
    // reproducible.
    let choice = hash(of: input)
    let isReadable = try checkInspection(of: completed.jws)
    if isReadable { try checkSpelling(of: completed.jws, choice: choice >> 8) }
    let outcome = outcome(of: completed.jws, under: signer.lenientPolicy, by: signer)
    switch outcome {
    case .success(let payload):
      try require(isReadable, "a verified payload can be inspected")
      try checkProof(payload.signed, of: completed)
    case .failure(let refusal):
      try require(refusal.verdict != .ok, "a refusal is never OK")
    }
    // Verification takes long here, three signatures of a notification even longer, so an input
    // runs only one of the further checks.
    switch choice % 4 {
    case 0: try checkMemory(of: completed.jws, outcome, by: signer)
    case 1: try checkTampering(with: completed.jws, outcome, choice: choice >> 2, by: signer)
    case 2: try checkPolicy(of: completed.jws, outcome, by: signer)
    default: try checkKind(of: completed.jws, choice: choice >> 2, by: signer)
    }
  }

  /// Changes the last character of one part, where a second spelling of the same bytes would be.
  private static func checkSpelling(of jws: [UInt8], choice: UInt64) throws(BrokenInvariant) {
    let dots = jws.indices.filter { jws[$0] == UInt8(ascii: ".") }
    let ends = dots + [jws.count]
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var changed = jws
    changed[ends[Int(choice % UInt64(ends.count))] - 1] = alphabet[Int(choice >> 8 & 63)]
    _ = try checkInspection(of: changed)
  }

  /// - Returns: whether it can be decoded.
  private static func checkInspection(of jws: [UInt8]) throws(BrokenInvariant) -> Bool {
    guard let inspected = try? InspectedPayload(jws) else { return false }
    let segments = jws.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    try require(segments.count == 3, "an inspected JWS has three parts")
    var parts: [[UInt8]] = []
    for segment in segments {
      guard let part = try? Base64Form.urlWithoutPadding.decode(segment) else {
        throw BrokenInvariant("each part of an inspected JWS is base64url")
      }
      try require(
        Base64Form.urlWithoutPadding.encode(part) == Array(segment),
        "each part of an inspected JWS has one encoding")
      parts.append(part)
    }
    try require(
      (try? JSONDocument(parts[0]))?.indented() == inspected.header.indented()
        && (try? JSONDocument(parts[1]))?.indented() == inspected.payload.indented(),
      "inspection shows the content of the parts")
    return true
  }

  private static func checkProof(
    _ signed: SignedPayload, of completed: FuzzSigner.Completed
  ) throws(BrokenInvariant) {
    guard case .jws(let header, let signature) = signed.proof else {
      throw BrokenInvariant("a JWS is proved by a JWS")
    }
    let dot = [UInt8(ascii: ".")]
    let payload = Base64Form.urlWithoutPadding.encode(signed.payload)
    try require(
      header + dot + payload + dot + Base64Form.urlWithoutPadding.encode(signature)
        == completed.jws,
      "the proof of a payload is the submitted JWS")
    if let signedPayload = completed.signedPayload {
      try require(signed.payload == signedPayload, "a verified payload is the signed one")
    }
  }

  /// At the second time the signer or the refusal comes from the cache.
  private static func checkMemory(
    of jws: [UInt8], _ outcome: Result<VerifiedPayload, Refusal>, by signer: FuzzSigner
  ) throws(BrokenInvariant) {
    switch (outcome, Self.outcome(of: jws, under: signer.lenientPolicy, by: signer)) {
    case (.success(let payload), .success(let again)):
      try require(payload.signed == again.signed, "a payload verifies to the same each time")
    case (.failure(let refusal), .failure(let again)):
      try require(refusal == again, "a payload is refused for the same reason each time")
    default:
      throw BrokenInvariant("a payload is not accepted once and refused once")
    }
  }

  /// Changes one bit of the payload or the signature. Headers are not changed, since checking their
  /// certificates takes too long here.
  private static func checkTampering(
    with jws: [UInt8], _ outcome: Result<VerifiedPayload, Refusal>, choice: UInt64,
    by signer: FuzzSigner
  ) throws(BrokenInvariant) {
    guard case .success = outcome else { return }
    let header = jws.prefix { $0 != UInt8(ascii: ".") }.count
    var changed = jws
    changed[header + Int((choice >> 3) % UInt64(jws.count - header))] ^= 1 << UInt8(choice % 8)
    guard case .failure = Self.outcome(of: changed, under: signer.lenientPolicy, by: signer) else {
      throw BrokenInvariant("a payload changed after signing is refused")
    }
  }

  private static func checkPolicy(
    of jws: [UInt8], _ outcome: Result<VerifiedPayload, Refusal>, by signer: FuzzSigner
  ) throws(BrokenInvariant) {
    guard case .success = Self.outcome(of: jws, under: signer.policy, by: signer) else { return }
    guard case .success = outcome else {
      throw BrokenInvariant("a strict policy accepts no more than a lenient one")
    }
  }

  private static func checkKind(
    of jws: [UInt8], choice: UInt64, by signer: FuzzSigner
  ) throws(BrokenInvariant) {
    let kind = SignedKind.allCases[Int(choice % UInt64(SignedKind.allCases.count))]
    let outcome = outcome(of: jws, as: kind, under: signer.lenientPolicy, by: signer)
    guard case .success(let payload) = outcome else { return }
    try require(payload.kind == kind, "an accepted payload has the requested kind")
  }

  /// FNV-1a.
  private static func hash(of bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  private static func outcome(
    of jws: [UInt8], as kind: SignedKind? = nil, under policy: VerificationPolicy,
    by signer: FuzzSigner
  ) -> Result<VerifiedPayload, Refusal> {
    Result { () throws(Refusal) in
      try signer.verifier.verify(jws, as: kind, policy: policy, now: FuzzSigner.now)
    }
  }
}
