import Cryptography
package import EntitlementDomain

/// SHA-256 digests of file contents.
package enum ContentDigest {
  /// - Returns: nil only when OpenSSL is out of memory.
  package static func sha256(of bytes: [UInt8]) -> PayloadDigest? {
    guard let digest = try? SHA256.digest(of: bytes) else { return nil }
    return PayloadDigest(words: digest.words)
  }
}
