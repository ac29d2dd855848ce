import COpenSSL

extension Certificate {
  /// The certificates of a file: one in DER, or any number in PEM.
  ///
  /// - Throws: ``CryptographyError/Code/malformedPEM`` when it holds no certificate or a block is
  ///   damaged, or ``CryptographyError/Code/malformedCertificate``.
  package static func certificates(
    inFile contents: [UInt8]
  ) throws(CryptographyError) -> [Certificate] {
    // A DER certificate is a sequence; PEM is text.
    if contents.first == 0x30 { return [try Certificate(der: contents)] }
    var certificates: [Certificate] = []
    for der in try blocks(inPEM: contents) {
      certificates.append(try Certificate(der: der))
    }
    guard !certificates.isEmpty else {
      throw CryptographyError(.malformedPEM, "no certificate in PEM or DER")
    }
    return certificates
  }

  /// The contents of the PEM blocks that are certificates, in order; others are passed over.
  private static func blocks(inPEM text: [UInt8]) throws(CryptographyError) -> [[UInt8]] {
    let input = try MemoryBuffer(holding: text)
    // The end of the text shows as an error: what was there before must not be taken for it.
    ERR_clear_error()
    defer { ERR_clear_error() }
    var blocks: [[UInt8]] = []
    var count = 0
    while let block = try nextBlock(of: input) {
      count += 1
      let isCertificate = block.name == PEM_STRING_X509 || block.name == PEM_STRING_X509_OLD
      if isCertificate { blocks.append(block.contents) }
    }
    // OpenSSL passes over a block without a first line, and takes one without a last line together
    // with the next.
    guard lineCount("-----BEGIN ", in: text) == count, lineCount("-----END ", in: text) == count
    else { throw damagedBlock }
    return blocks
  }

  private static func lineCount(_ beginning: String, in text: [UInt8]) -> Int {
    text.split(separator: UInt8(ascii: "\n")).count { $0.starts(with: beginning.utf8) }
  }

  private static var damagedBlock: CryptographyError {
    CryptographyError(.malformedPEM, "a block of the PEM file is damaged")
  }

  /// - Returns: nil at the end of the text.
  private static func nextBlock(
    of input: MemoryBuffer
  ) throws(CryptographyError) -> (name: String, contents: [UInt8])? {
    var name: UnsafeMutablePointer<CChar>?
    var header: UnsafeMutablePointer<CChar>?
    var contents: UnsafeMutablePointer<UInt8>?
    var length = 0
    guard PEM_read_bio(input.pointer, &name, &header, &contents, &length) == 1 else {
      // Anything else than the end of the text, an empty block without any error among it, is a
      // block that must not be missed: those after it would be too.
      let error = ERR_peek_last_error()
      guard ERR_GET_LIB(error) == ERR_LIB_PEM, ERR_GET_REASON(error) == PEM_R_NO_START_LINE else {
        throw damagedBlock
      }
      return nil
    }
    defer {
      CRYPTO_free(name, nil, 0)
      CRYPTO_free(header, nil, 0)
      CRYPTO_free(contents, nil, 0)
    }
    guard let name, let contents else {
      throw CryptographyError(.libraryFault, "a block of the PEM file has no contents")
    }
    return (
      String(cString: name), Array(UnsafeBufferPointer(start: contents, count: length))
    )
  }
}
