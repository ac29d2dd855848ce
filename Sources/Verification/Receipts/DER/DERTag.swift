/// The kinds of element that a receipt is made of, by their identifier octet (X.690 section 8.1.2).
package enum DERTag {
  package static let integer: UInt8 = 0x02
  package static let octetString: UInt8 = 0x04
  package static let objectIdentifier: UInt8 = 0x06
  package static let utf8String: UInt8 = 0x0C
  package static let ia5String: UInt8 = 0x16
  package static let sequence: UInt8 = 0x30
  package static let set: UInt8 = 0x31

  /// `[number]` around other elements. Below 31, as all that one octet can tell.
  package static func context(_ number: UInt8) -> UInt8 { 0xA0 | number }

  /// Whether elements of this kind hold other elements.
  static func isConstructed(_ tag: UInt8) -> Bool { tag & 0x20 != 0 }
}
