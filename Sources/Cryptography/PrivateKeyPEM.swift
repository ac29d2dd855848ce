import COpenSSL

/// Private keys in PEM files.
enum PrivateKeyPEM {
  /// The key of a PEM file, of any kind; the caller owns the one reference.
  ///
  /// - Throws: ``CryptographyError/Code/malformedPrivateKey`` when there is none, or it is encrypted.
  static func read(_ pem: [UInt8]) throws(CryptographyError) -> OpaquePointer {
    let input = try MemoryBuffer(holding: pem)
    // Without the callback OpenSSL would ask for a password on the terminal.
    guard
      let key = PEM_read_bio_PrivateKey(input.pointer, nil, { _, _, _, _ in -1 }, nil)
    else {
      ERR_clear_error()
      throw CryptographyError(.malformedPrivateKey, "not a PEM file with a plain private key")
    }
    return key
  }
}
