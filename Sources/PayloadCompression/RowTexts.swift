/// Texts that the row of a payload holds in columns of its own, such as ids: they are left out of the
/// stored payload, and put back from the row when it is read.
///
/// A payload is read with the same texts, in the same order, as it was stored with. A text that the payload
/// does not contain costs nothing.
package struct RowTexts: Sendable {
  /// For payloads of rows that hold nothing of them.
  package static let none = RowTexts()

  /// The most texts. The byte in place of a text is its number, from 1; all of these are control
  /// characters that JSON does not contain (RFC 8259 sections 2 and 7).
  static let maximumTexts = 8
  /// The bytes of a text. Shorter ones are found in places that have nothing to do with them; longer
  /// ones are no ids, and would take long to look for.
  static let usableLengths = 6...64

  private static let slotSize = usableLengths.upperBound

  /// A slot for each text. Texts are made for each fact that is read: in one array, they take one
  /// allocation. Empty as long as there are no texts.
  private var slots: [UInt8] = []
  /// The bytes of each text in its slot; 0 where there is none.
  private var lengths = InlineArray<8, UInt8>(repeating: 0)
  private var count = 0

  package init() {}

  /// - Parameter texts: at most eight, empty where there is none.
  package init(_ texts: [String]) {
    for text in texts { append(text) }
  }

  /// Adds the next text, empty where there is none. Short and long ones, and those with characters that
  /// are not printable ASCII, have a number and stay in the payload.
  package mutating func append(_ text: String) {
    var text = text
    _ = text.withUTF8 { text in
      append(upTo: text.count) { output in
        _ = output.update(fromContentsOf: text)
        return text.count
      }
    }
  }

  /// Adds the next text where it is made.
  ///
  /// - Parameters:
  ///   - limit: the most bytes of the text; 0 where there is none.
  ///   - write: writes it to a buffer of at least `limit` bytes, and returns their number; nil when it
  ///     cannot be made. It is not called for a text that may be too long.
  /// - Returns: false when it could not be made.
  // Neither generic nor with typed errors: the compiler does not specialise such a function for another
  // module, and as it was, it took half of the time of reading the columns of a row.
  package mutating func append(
    upTo limit: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Int?
  ) -> Bool {
    precondition(count < Self.maximumTexts)
    let number = count
    count += 1
    guard limit > 0, limit <= Self.slotSize else { return true }
    if slots.isEmpty { slots = [UInt8](repeating: 0, count: Self.maximumTexts * Self.slotSize) }
    let start = number * Self.slotSize
    let written = slots.withUnsafeMutableBufferPointer { slots in
      write(UnsafeMutableBufferPointer(rebasing: slots[start..<(start + Self.slotSize)]))
    }
    guard let written else { return false }
    lengths[number] = UInt8(written)
    return true
  }

  /// The texts in their order. A text that must stay in the payload is empty here. Needed to store a payload
  /// only: reading puts back what the stored payload has a number for.
  private var usable: [ArraySlice<UInt8>] {
    (0..<count).map { number in
      guard Self.usableLengths.contains(Int(lengths[number])) else { return [] }
      let start = number * Self.slotSize
      let text = slots[start..<(start + Int(lengths[number]))]
      return text.allSatisfy { $0 >= 0x20 && $0 < 0x7F } ? text : []
    }
  }

  /// The payload with numbers in place of its values that are, or begin with, one of the texts.
  ///
  /// - Returns: nil when there is no such value, or the payload has such bytes itself.
  func removed(from payload: [UInt8]) -> [UInt8]? {
    let texts = usable
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
  func restored(in content: UnsafeBufferPointer<UInt8>, count: Int) -> [UInt8]? {
    var isComplete = false
    let payload = [UInt8](unsafeUninitializedCapacity: count) { output, written in
      slots.withUnsafeBufferPointer { slots in
        var copied = 0
        while let place = Self.place(ofNumberIn: content, from: copied) {
          let number = Int(content[place]) - 1
          let start = number * Self.slotSize
          let length = Int(lengths[number])
          guard length > 0, Self.append(content[copied..<place], to: output, &written),
            Self.append(slots[start..<(start + length)], to: output, &written)
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
