import Cryptography
package import EntitlementDomain

/// What a store keeps with its digest, and checks when it reads it: damage by a disk, a file system or
/// another program gives another digest.
package enum StoredPayload {
  /// The digest of what is stored: of a payload, or of a whole document.
  ///
  /// - Throws: ``StoreError/Code/internalFault`` when hashing fails.
  package static func digest(of bytes: [UInt8]) throws(StoreError) -> PayloadDigest {
    do throws(CryptographyError) {
      return PayloadDigest(sha256: try SHA256.digest(of: bytes).words)
    } catch {
      throw StoreError(.internalFault, "hashing what is stored failed")
    }
  }
}
