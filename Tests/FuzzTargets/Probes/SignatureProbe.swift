import Cryptography

/// Checks of signatures: with a table of the key's multiples they have the verdict that OpenSSL's
/// ordinary ones have.
enum SignatureProbe {
  /// The same key with a table and without.
  private struct Keys: Sendable {
    let key: SigningKey
    let ordinary: VerifyingKey
    let fast: VerifyingKey

    // Fuzzing needs keys, so a failure to make them may trap.
    init() {
      key = try! .generate(.p256)
      ordinary = try! key.verifyingKey
      fast = try! key.verifyingKey
      precondition(fast.makeTable())
    }
  }

  private static let keys = Keys()
  private static let length = VerifyingKey.signatureLength

  /// - Parameter input: a byte for the form, 64 bytes for a signature and 32 for a digest; zeros at
  ///   its end may be missing. By the lowest bit of the form they are those to check, or
  ///   alter, bit by bit, a genuine signature and its digest.
  static func run(_ input: [UInt8]) throws(BrokenInvariant) {
    let form = input.first ?? 0
    var bytes = Array(input.dropFirst().prefix(length + 32))
    bytes += [UInt8](repeating: 0, count: length + 32 - bytes.count)
    let isAltered = bytes.contains { $0 != 0 }
    if form & 1 == 1 {
      let message: [UInt8] = [form]
      guard let genuine = try? keys.key.signature(over: message),
        let digest = try? SHA256.digest(of: message)
      else { throw BrokenInvariant("a message can be signed") }
      bytes = zip(bytes, genuine + digest.bytes).map { $0 ^ $1 }
    }
    let signature = Array(bytes[..<length])
    let digest = SHA256Digest(
      words: (word(bytes, 64), word(bytes, 72), word(bytes, 80), word(bytes, 88)))
    let ordinary = try? keys.ordinary.isValidSignature(signature, ofDigest: digest)
    let fast = try? keys.fast.isValidSignature(signature, ofDigest: digest)
    try require(ordinary != nil && fast != nil, "every check can be made")
    try require(ordinary == fast, "a table of the key changes no verdict")
    if form & 1 == 1 { try require(fast == !isAltered, "one bit makes a signature invalid") }
  }

  private static func word(_ bytes: [UInt8], _ start: Int) -> UInt64 {
    bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
  }
}
