/// Texts that callers give, and that stores keep.
enum RequestText {
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for one that is empty, longer
  ///   than `limit` UTF-8 bytes, or holds a NUL.
  static func check(_ text: String, as field: String, limit: Int) throws(ServiceError) {
    guard (1...limit).contains(text.utf8.count) else {
      throw ServiceError(
        .invalidArgument(field: field), "\(field) must be 1 to \(limit) bytes long")
    }
    // No store can keep one.
    guard !text.utf8.contains(0) else {
      throw ServiceError(.invalidArgument(field: field), "\(field) must not hold a NUL")
    }
  }
}
