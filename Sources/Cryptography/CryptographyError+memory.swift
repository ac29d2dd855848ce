import COpenSSL

extension CryptographyError {
  /// Tells want of memory, which decides nothing, from what OpenSSL says of the data. To be asked
  /// after a call that failed, when the errors had been cleared before it.
  ///
  /// - Throws: ``Code/libraryFault``.
  static func checkMemory(for work: StaticString) throws(CryptographyError) {
    guard ERR_GET_REASON(ERR_peek_error()) == Int32(ERR_R_MALLOC_FAILURE) else { return }
    throw CryptographyError(.libraryFault, "no memory for \(work)")
  }
}
