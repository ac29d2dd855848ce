import Cryptography

/// An `AlgorithmIdentifier` (RFC 5652 section 10.1) of a receipt. It may name an algorithm that is
/// not accepted.
struct ReceiptAlgorithm: Hashable, Sendable {
  /// The contents of the object identifier.
  let identifier: [UInt8]
  /// Whether there are parameters other than NULL.
  let hasParameters: Bool

  // 1.3.14.3.2.26 and 2.16.840.1.101.3.4.2.1.
  private static let sha1: [UInt8] = [0x2B, 0x0E, 0x03, 0x02, 0x1A]
  private static let sha256: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]
  // 1.2.840.113549.1.1.1, .5 and .11.
  private static let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
  private static let rsaWithSHA1: [UInt8] = rsa.dropLast() + [0x05]
  private static let rsaWithSHA256: [UInt8] = rsa.dropLast() + [0x0B]

  /// Reads the next element.
  ///
  /// - Throws: ``Refusal`` with ``Verdict/malformed``.
  init(
    _ reader: inout DERReader, in bytes: [UInt8], _ name: StaticString
  ) throws(Refusal) {
    let sequence = try reader.next(DERTag.sequence, name)
    var inside = DERReader(bytes, inside: sequence)
    identifier = Array(bytes[try inside.next(DERTag.objectIdentifier, name).contents])
    if inside.isAtEnd {
      hasParameters = false
    } else {
      let parameters = try inside.next()
      // Apple writes NULL; others omit it.
      hasParameters = parameters.tag != 0x05 || !parameters.contents.isEmpty
      try inside.expectEnd(of: name)
    }
  }

  /// The hash function; nil if it is not accepted.
  var digest: CMSDigest? {
    guard !hasParameters else { return nil }
    switch identifier {
    case Self.sha1: return .sha1
    case Self.sha256: return .sha256
    default: return nil
    }
  }

  /// Whether this identifies RSA signatures (PKCS #1 v1.5) with `digest`.
  func isRSA(with digest: CMSDigest) -> Bool {
    guard !hasParameters else { return false }
    // Apple uses the identifier without the hash function (RFC 3370 section 3.2).
    return identifier == Self.rsa
      || identifier == (digest == .sha1 ? Self.rsaWithSHA1 : Self.rsaWithSHA256)
  }

  /// The name of a known hash function, or the dotted identifier, for messages.
  var label: String { digest?.rawValue ?? dotted }

  /// The identifier in dotted form (X.690 section 8.19); a question mark if it is not valid.
  private var dotted: String {
    var arcs: [UInt64] = []
    var arc: UInt64 = 0
    for octet in identifier {
      guard arc <= UInt64.max >> 7 else { return "?" }
      arc = arc << 7 | UInt64(octet & 0x7F)
      guard octet & 0x80 == 0 else { continue }
      if arcs.isEmpty {
        let first = min(arc / 40, 2)
        arcs = [first, arc - first * 40]
      } else {
        arcs.append(arc)
      }
      arc = 0
    }
    return arcs.isEmpty ? "?" : arcs.map(String.init).joined(separator: ".")
  }
}
