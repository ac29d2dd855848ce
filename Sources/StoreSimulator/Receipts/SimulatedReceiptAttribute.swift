/// One attribute of a receipt, or of one of its items.
package struct SimulatedReceiptAttribute: Hashable, Sendable {
  package var type: Int64
  package var version: Int64
  /// The contents of the octet string, which are mostly DER.
  package var value: [UInt8]

  package init(type: Int64, version: Int64 = 1, value: [UInt8]) {
    self.type = type
    self.version = version
    self.value = value
  }

  static func integer(_ type: Int64, _ value: Int64) -> Self {
    Self(type: type, value: DERWriter.integer(value))
  }

  static func text(_ type: Int64, _ value: String) -> Self {
    Self(type: type, value: DERWriter.utf8String(value))
  }

  /// A date as the App Store writes it: IA5String, RFC 3339 in UTC, cut to seconds; empty for none.
  static func date(_ type: Int64, _ value: String?) -> Self {
    Self(type: type, value: DERWriter.ia5String(value ?? ""))
  }

  /// A SET of attributes, in DER. They are sorted by length, as in the App Store's receipts.
  /// Attributes of equal length keep their order.
  package static func set(of attributes: [Self]) -> [UInt8] {
    let encoded = attributes.map { attribute in
      DERWriter.sequence([
        DERWriter.integer(attribute.type), DERWriter.integer(attribute.version),
        DERWriter.octetString(attribute.value),
      ])
    }
    // Swift's sort is not guaranteed to be stable, so the index breaks ties.
    let order = encoded.indices.sorted {
      (encoded[$0].count, $0) < (encoded[$1].count, $1)
    }
    return DERWriter.set(order.map { encoded[$0] })
  }
}

/// Writes the types of DER (X.690) that receipts use.
enum DERWriter {
  static func integer(_ value: Int64) -> [UInt8] {
    var bytes = stride(from: 56, through: 0, by: -8).map {
      UInt8(truncatingIfNeeded: value >> Int64($0))
    }
    // X.690 §8.3.2: the first nine bits are neither all ones nor all zeros.
    while bytes.count > 1,
      (bytes[0] == 0 && bytes[1] < 0x80) || (bytes[0] == 0xff && bytes[1] >= 0x80)
    {
      bytes.removeFirst()
    }
    return element(tag: 0x02, bytes)
  }

  static func octetString(_ bytes: [UInt8]) -> [UInt8] { element(tag: 0x04, bytes) }
  static func utf8String(_ text: String) -> [UInt8] { element(tag: 0x0c, Array(text.utf8)) }
  static func ia5String(_ text: String) -> [UInt8] { element(tag: 0x16, Array(text.utf8)) }
  static func sequence(_ elements: [[UInt8]]) -> [UInt8] {
    element(tag: 0x30, Array(elements.joined()))
  }

  static func set(_ elements: [[UInt8]]) -> [UInt8] {
    element(tag: 0x31, Array(elements.joined()))
  }

  private static func element(tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
    [tag] + length(contents.count) + contents
  }

  /// The definite form in the fewest bytes (X.690 §10.1).
  private static func length(_ count: Int) -> [UInt8] {
    if count < 0x80 { return [UInt8(count)] }
    var bytes: [UInt8] = []
    var rest = count
    while rest > 0 {
      bytes.insert(UInt8(truncatingIfNeeded: rest), at: 0)
      rest >>= 8
    }
    // An `Int` has eight bytes, so the number of bytes fits the first byte.
    return [0x80 | UInt8(bytes.count)] + bytes
  }
}
