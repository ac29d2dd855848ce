extension DERReader {
  /// The next element as an integer.
  ///
  /// - Parameter name: what it is, for people.
  /// - Throws: ``Refusal`` when it is none, is not in its shortest form (X.690 section 8.3.2), or
  ///   does not fit 64 bits, however long it is.
  package mutating func integer(_ name: StaticString) throws(Refusal) -> Int64 {
    let element = try next(DERTag.integer, name)
    let octets = self[element.contents]
    guard let first = octets.first else {
      throw Refusal(.malformed, "the \(name) is an integer without a value")
    }
    if octets.count > 1 {
      // The sign would be the same without the first octet.
      let isPadded = first == (octets[octets.startIndex + 1] & 0x80 == 0 ? 0x00 : 0xFF)
      guard !isPadded else {
        throw Refusal(.malformed, "the \(name) is an integer that is not in its shortest form")
      }
    }
    guard octets.count <= 8 else {
      throw Refusal(.malformed, "the \(name) is an integer that does not fit 64 bits")
    }
    var value: Int64 = first & 0x80 == 0 ? 0 : -1
    for octet in octets { value = value << 8 | Int64(octet) }
    return value
  }

  /// The next element as text: a UTF8String or an IA5String. Empty text is none.
  ///
  /// - Parameter name: what it is, for people.
  /// - Throws: ``Refusal`` when it is something else, is not in its encoding, or holds a NUL, at
  ///   which the C libraries that handle text would cut it short.
  package mutating func text(_ name: StaticString) throws(Refusal) -> String? {
    let tag = nextTag
    guard tag == DERTag.utf8String || tag == DERTag.ia5String else {
      throw Refusal(.malformed, "the \(name) is not text")
    }
    let octets = self[try next().contents]
    guard !octets.contains(0) else { throw Refusal(.malformed, "the \(name) holds a NUL") }
    guard tag == DERTag.utf8String || octets.allSatisfy({ $0 < 0x80 }),
      let text = String(validating: octets, as: UTF8.self)
    else { throw Refusal(.malformed, "the \(name) is text in another encoding than it says") }
    return text.isEmpty ? nil : text
  }
}
