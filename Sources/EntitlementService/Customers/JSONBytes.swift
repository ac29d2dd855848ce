import JSONDocuments

/// JSON in UTF-8, for a document that is put together from parts.
enum JSONBytes {
  static func of(_ value: some Encodable) throws -> [UInt8] {
    Array(try JSONText.line(value).utf8)
  }
}
