/// The attributes of a receipt, or of one of its purchases.
struct ReceiptContent {
  struct Attribute {
    var type: Int
    /// The contents of the octet string.
    var value: [UInt8]

    static func integer(_ type: Int, _ value: Int) -> Self {
      Self(type: type, value: DERNode.integer(value).encoded)
    }

    static func text(_ type: Int, _ value: String) -> Self {
      Self(type: type, value: DERNode.utf8(value).encoded)
    }

    static func date(_ type: Int, _ value: String) -> Self {
      Self(type: type, value: DERNode.ia5(value).encoded)
    }

    static func purchase(_ content: ReceiptContent) -> Self {
      Self(type: 17, value: content.encoded)
    }

    var node: DERNode {
      DERNode(0x30, [.integer(type), .integer(1), .octets(value)])
    }
  }

  var attributes: [Attribute]

  init(_ attributes: [Attribute]) {
    self.attributes = attributes
  }

  var encoded: [UInt8] { DERNode(0x31, attributes.map(\.node)).encoded }

  /// Replaces an attribute, or adds it.
  func with(_ attribute: Attribute) -> ReceiptContent {
    var copy = without(attribute.type)
    copy.attributes.append(attribute)
    return copy
  }

  func without(_ type: Int) -> ReceiptContent {
    ReceiptContent(attributes.filter { $0.type != type })
  }

  func adding(_ attributes: Attribute...) -> ReceiptContent {
    ReceiptContent(self.attributes + attributes)
  }
}
