/// The few forms of DER (X.690) that a receipt is made of.
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

  /// The definite form, as short as can be (X.690 §10.1).
  private static func length(_ count: Int) -> [UInt8] {
    if count < 0x80 { return [UInt8(count)] }
    var bytes: [UInt8] = []
    var rest = count
    while rest > 0 {
      bytes.insert(UInt8(truncatingIfNeeded: rest), at: 0)
      rest >>= 8
    }
    // An array's length has eight bytes at most.
    return [0x80 | UInt8(bytes.count)] + bytes
  }
}
