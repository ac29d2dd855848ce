/// Checks of text in requests that is stored.
enum RequestText {
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for text that is empty,
  ///   longer than `limit` UTF-8 bytes, or contains a NUL.
  static func check(_ text: String, as field: String, limit: Int) throws(ServiceError) {
    guard (1...limit).contains(text.utf8.count) else {
      throw ServiceError(
        .invalidArgument(field: field), "\(field) must be 1 to \(limit) bytes long")
    }
    // PostgreSQL and SQLite cannot store a NUL in text.
    guard !text.utf8.contains(0) else {
      throw ServiceError(.invalidArgument(field: field), "\(field) must not contain a NUL")
    }
  }
}
