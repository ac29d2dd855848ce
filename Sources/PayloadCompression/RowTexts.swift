/// Texts that the row of a payload holds in columns of its own, such as ids: they are left out of the
/// stored payload, and put back from the row when it is read.
///
/// A payload is read with the same texts, in the same order, as it was stored with. A text that the payload
/// does not contain costs nothing.
package struct RowTexts: Sendable {
  /// For payloads of rows that hold nothing of them.
  package static let none = RowTexts([])

  /// The most texts. The byte in place of a text is its number, from 1; all of these are control
  /// characters that JSON does not contain (RFC 8259 sections 2 and 7).
  static let maximumTexts = 8
  /// The bytes of a text. Shorter ones are found in places that have nothing to do with them; longer
  /// ones are no ids, and would take long to look for.
  static let lengths = 6...64

  /// Empty where there is none.
  private let texts: [String]

  /// - Parameter texts: at most eight, empty where there is none. Short and long ones, and those with
  ///   characters that are not printable ASCII, keep their number and stay in the payload.
  package init(_ texts: [String]) {
    precondition(texts.count <= Self.maximumTexts)
    self.texts = texts
  }

  /// Whether a text may be left out. Only asked when a payload is stored: what was not left out is not
  /// put back.
  private static func isUsable(_ text: String) -> Bool {
    lengths.contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
  }

  /// The payload with numbers in place of its values that are, or begin with, one of the texts.
  ///
  /// - Returns: nil when there is no such value, or the payload has such bytes itself.
  func removed(from payload: [UInt8]) -> [UInt8]? {
    let texts = texts.map { Self.isUsable($0) ? Array($0.utf8) : [] }
    guard texts.contains(where: { !$0.isEmpty }) else { return nil }
    var content: [UInt8] = []
    content.reserveCapacity(payload.count)
    var copied = 0
    var index = 0
    while index < payload.count {
      let byte = payload[index]
      if Self.isNumber(byte) { return nil }
      index += 1
      guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: ":"), index < payload.count else {
        continue
      }
      let value = payload[index...]
      let first = payload[index]
      guard let found = texts.firstIndex(where: { $0.first == first && value.starts(with: $0) })
      else { continue }
      content += payload[copied..<index]
      content.append(UInt8(found + 1))
      index += texts[found].count
      copied = index
    }
    guard copied > 0 else { return nil }
    content += payload[copied...]
    return content
  }

  private static func isNumber(_ byte: UInt8) -> Bool { byte &- 1 < maximumTexts }

  /// Puts the texts back. On the way of each read.
  ///
  /// - Parameter count: the bytes of the payload.
  /// - Returns: nil when the content names a text that there is not, or the payload would have another
  ///   number of bytes.
  func restored(in content: [UInt8], count: Int) -> [UInt8]? {
    var isComplete = false
    let payload = [UInt8](unsafeUninitializedCapacity: count) { output, written in
      content.withUnsafeBufferPointer { content in
        var copied = 0
        while let place = Self.place(ofNumberIn: content, from: copied) {
          let number = Int(content[place])
          guard number <= texts.count, !texts[number - 1].isEmpty,
            Self.append(content[copied..<place], to: output, &written),
            Self.append(texts[number - 1], to: output, &written)
          else { return }
          copied = place + 1
        }
        isComplete = Self.append(content[copied...], to: output, &written) && written == count
      }
    }
    return isComplete ? payload : nil
  }

  /// The place of the first byte that is a number of a text.
  private static func place(
    ofNumberIn content: UnsafeBufferPointer<UInt8>, from start: Int
  ) -> Int? {
    let bytes = UnsafeRawBufferPointer(content)
    var place = start
    // Eight bytes at a time. Taking 9 from a byte sets its high bit, unless it was set, if the byte is
    // below 9; 0 is, and a byte above one that is may be taken for one. So the word is looked at again.
    while place + 8 <= bytes.count {
      let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      let low = (word &- 0x0909_0909_0909_0909) & ~word & 0x8080_8080_8080_8080
      if low != 0, let found = content[place..<(place + 8)].firstIndex(where: isNumber) {
        return found
      }
      place += 8
    }
    return content[place...].firstIndex(where: isNumber)
  }

  private static func append(
    _ text: String, to output: UnsafeMutableBufferPointer<UInt8>, _ written: inout Int
  ) -> Bool {
    var text = text
    return text.withUTF8 { append($0[...], to: output, &written) }
  }

  /// - Returns: false, and writes nothing, when there is no room.
  private static func append(
    _ bytes: Slice<UnsafeBufferPointer<UInt8>>, to output: UnsafeMutableBufferPointer<UInt8>,
    _ written: inout Int
  ) -> Bool {
    guard bytes.count <= output.count - written else { return false }
    written = output[written...].update(fromContentsOf: bytes)
    return true
  }
}
