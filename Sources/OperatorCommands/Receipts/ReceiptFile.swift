import Programs

/// A file that is one receipt, or one response to one.
enum ReceiptFile {
  /// - Throws: ``CommandFailure`` when it cannot be read, is empty, or is larger than `limit` bytes.
  static func contents(of path: String, limit: Int) throws(CommandFailure) -> [UInt8] {
    let bytes = try InputFile.contents(of: path, limit: limit)
    if bytes.isEmpty { throw CommandFailure(.failed, "\(name(of: path)): empty") }
    return bytes
  }

  static func name(of path: String) -> String { path == "-" ? "stdin" : path }
}
