/// Texts that the row of a payload holds in columns of its own, such as ids: they are left out of the
/// stored payload, and put back from the row when it is read.
///
/// Whoever reads a payload gives the same texts in the same order as who stored it. A text that the
/// payload does not contain costs nothing.
package struct RowTexts: Sendable {
  /// For payloads of rows that hold nothing of them.
  package static let none = RowTexts([])

  /// The most texts. The byte in place of a text is its number, from 1; all of these are control
  /// characters that JSON does not contain (RFC 8259 sections 2 and 7).
  static let maximumTexts = 8
  /// The bytes of a text. Shorter ones are found in places that have nothing to do with them; longer
  /// ones are no ids, and would take long to look for.
  static let lengths = 6...64

  private let texts: [String]

  /// - Parameter texts: at most eight. Of these, nil, short and long ones, and those with characters that
  ///   are not printable ASCII keep their number and stay in the payload.
  package init(_ texts: [String?]) {
    precondition(texts.count <= Self.maximumTexts)
    self.texts = texts.map { text in
      guard let text, Self.lengths.contains(text.utf8.count),
        text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
      else { return "" }
      return text
    }
  }

  /// The payload with numbers in place of its values that are, or begin with, one of the texts.
  ///
  /// - Returns: nil when there is no such value, or the payload has such bytes itself.
  func removed(from payload: [UInt8]) -> [UInt8]? {
    guard !texts.isEmpty else { return nil }
    let texts = texts.map { Array($0.utf8) }
    var content: [UInt8] = []
    content.reserveCapacity(payload.count)
    var copied = 0
    var index = 0
    while index < payload.count {
      let byte = payload[index]
      if Self.isNumber(byte) { return nil }
      index += 1
      guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: ":") else { continue }
      let value = payload[index...]
      guard let found = texts.firstIndex(where: { !$0.isEmpty && value.starts(with: $0) }) else {
        continue
      }
      content += payload[copied..<index]
      content.append(UInt8(found + 1))
      index += texts[found].count
      copied = index
    }
    guard copied > 0 else { return nil }
    content += payload[copied...]
    return content
  }

  private static func isNumber(_ byte: UInt8) -> Bool { byte >= 1 && byte <= maximumTexts }

  /// Puts the texts back.
  ///
  /// - Parameter count: the bytes of the payload.
  /// - Returns: nil when the content names a text that there is not, or the payload would have another
  ///   number of bytes.
  func restored(in content: [UInt8], count: Int) -> [UInt8]? {
    var payload: [UInt8] = []
    payload.reserveCapacity(count)
    var copied = 0
    for place in content.indices where Self.isNumber(content[place]) {
      let number = Int(content[place])
      guard number <= texts.count, !texts[number - 1].isEmpty else { return nil }
      payload += content[copied..<place]
      payload += texts[number - 1].utf8
      copied = place + 1
      guard payload.count <= count else { return nil }
    }
    payload += content[copied...]
    return payload.count == count ? payload : nil
  }
}
