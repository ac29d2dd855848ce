/// Converts the structure that Xcode writes around a receipt to DER: elements of indefinite length
/// (X.690 section 8.1.3.6), and inside them an octet string in segments (section 8.7.3).
///
/// Only these two freedoms of BER are converted. An element of definite length is copied as it is,
/// and so must be DER itself: no certificate can be encoded in two ways. A signature covers the
/// octets of the content, not their encoding, so it stays valid.
struct IndefiniteForm {
  private let bytes: [UInt8]
  private var reader: DERReader
  private var elements = 0

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
    reader = DERReader(bytes)
  }

  /// Whether the outermost element has an indefinite length. Others inside an element of definite
  /// length are not converted.
  static func isUsed(by bytes: [UInt8]) -> Bool { DERReader(bytes).isNextIndefinite }

  /// - Parameter bytes: exactly one element, whose length the caller has limited.
  /// - Returns: the element with definite lengths.
  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when the input has another form, or exceeds
  ///   ``VerificationLimits/receiptElements`` or ``VerificationLimits/receiptIndefiniteDepth``.
  static func der(of bytes: [UInt8]) throws(Refusal) -> [UInt8] {
    var form = IndefiniteForm(bytes)
    let der = try form.next(depth: 1)
    try form.reader.expectEnd(of: "CMS message")
    return der
  }

  private mutating func next(depth: Int) throws(Refusal) -> [UInt8] {
    try count()
    guard reader.isNextIndefinite else {
      let element = try reader.next()
      return Array(bytes[element.range])
    }
    guard depth <= VerificationLimits.receiptIndefiniteDepth else {
      throw DERReader.malformed(
        "more than \(VerificationLimits.receiptIndefiniteDepth) nested indefinite lengths")
    }
    let tag = try reader.enterIndefinite()
    if tag == Self.segmentedOctetString {
      return Self.element(DERTag.octetString, try segments())
    }
    var contents: [UInt8] = []
    while !reader.leaveIndefinite() { contents += try next(depth: depth + 1) }
    return Self.element(tag, contents)
  }

  /// The octets of all segments up to the end of the octet string.
  private mutating func segments() throws(Refusal) -> [UInt8] {
    var octets: [UInt8] = []
    while !reader.leaveIndefinite() {
      try count()
      octets += bytes[try reader.next(DERTag.octetString, "segment of an octet string").contents]
    }
    return octets
  }

  private mutating func count() throws(Refusal) {
    elements += 1
    guard elements <= VerificationLimits.receiptElements else {
      throw DERReader.malformed(
        "it has more than \(VerificationLimits.receiptElements) elements")
    }
  }

  /// The constructed form of ``DERTag/octetString``.
  private static let segmentedOctetString: UInt8 = 0x24

  private static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
    guard contents.count >= 0x80 else { return [tag, UInt8(contents.count)] + contents }
    // The shortest form, as ``DERReader`` requires it.
    let length = withUnsafeBytes(of: contents.count.bigEndian) { Array($0.drop { $0 == 0 }) }
    return [tag, 0x80 | UInt8(length.count)] + length + contents
  }
}
