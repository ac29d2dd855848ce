/// One attribute of a receipt, or of one of its items.
package struct SimulatedReceiptAttribute: Hashable, Sendable {
  package var type: Int64
  package var version: Int64
  /// The contents of the octet string; mostly DER themselves.
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

  /// A SET of attributes, in DER. As in the App Store's receipts short ones come first, and those of
  /// one length keep their order.
  package static func set(of attributes: [Self]) -> [UInt8] {
    let encoded = attributes.map { attribute in
      DERWriter.sequence([
        DERWriter.integer(attribute.type), DERWriter.integer(attribute.version),
        DERWriter.octetString(attribute.value),
      ])
    }
    // Swift promises no order of equal elements, so that their place decides.
    let order = encoded.indices.sorted {
      (encoded[$0].count, $0) < (encoded[$1].count, $1)
    }
    return DERWriter.set(order.map { encoded[$0] })
  }
}
