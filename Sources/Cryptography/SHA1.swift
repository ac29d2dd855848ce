import COpenSSL

/// SHA-1 (FIPS 180-4). Used only where a format demands it: old receipts,
/// device hashes and UUIDs of version 5. Safe on any thread.
package enum SHA1 {
  /// Bytes of a digest.
  package static let length = 20

  /// - Throws: ``CryptographyError/Code/libraryFault`` only.
  package static func digest(
    of bytes: UnsafeRawBufferPointer
  ) throws(CryptographyError) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: length)
    guard EVP_Digest(bytes.baseAddress, bytes.count, &digest, nil, EVP_sha1(), nil) == 1 else {
      ERR_clear_error()
      throw CryptographyError(.libraryFault, "SHA-1 failed")
    }
    return digest
  }

  /// - Throws: ``CryptographyError/Code/libraryFault`` only.
  package static func digest(of bytes: [UInt8]) throws(CryptographyError) -> [UInt8] {
    try bytes.withUnsafeBufferPointer { (buffer) throws(CryptographyError) in
      try digest(of: UnsafeRawBufferPointer(buffer))
    }
  }
}
