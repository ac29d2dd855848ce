import Cryptography
package import EntitlementDomain

/// Names the content of a file by its SHA-256.
package enum ContentDigest {
  /// - Returns: nil when the library has no memory for it: every content has a digest.
  package static func sha256(of bytes: [UInt8]) -> PayloadDigest? {
    guard let digest = try? SHA256.digest(of: bytes) else { return nil }
    return PayloadDigest(words: digest.words)
  }
}
