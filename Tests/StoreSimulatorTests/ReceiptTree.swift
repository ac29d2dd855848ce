/// A parsed receipt: the CMS message and the attributes.
struct ReceiptTree {
  struct Attribute: Equatable {
    let type: Int64
    let version: Int64
    let value: [UInt8]
    /// Of the whole attribute, in bytes.
    let length: Int
  }

  /// SignedData (RFC 5652 section 5.1).
  let message: DERTree
  let content: [UInt8]
  let attributes: [Attribute]

  init(_ receipt: [UInt8]) throws {
    let whole = try DERTree(receipt)
    guard whole.tag == 0x30, whole.children.count == 2, whole.children[1].tag == 0xa0,
      let message = whole.children[1].children.first, message.children.count == 5,
      let content = message.children[2].children.last?.children.first, content.tag == 0x04
    else { throw DERTree.Malformed() }
    self.message = message
    self.content = content.contents
    attributes = try Self.attributes(of: content.contents)
  }

  static func attributes(of set: [UInt8]) throws -> [Attribute] {
    let tree = try DERTree(set)
    guard tree.tag == 0x31 else { throw DERTree.Malformed() }
    return try tree.children.map { attribute in
      guard attribute.tag == 0x30, attribute.children.count == 3,
        let type = attribute.children[0].number, let version = attribute.children[1].number,
        attribute.children[2].tag == 0x04
      else { throw DERTree.Malformed() }
      return Attribute(
        type: type, version: version, value: attribute.children[2].contents,
        length: attribute.length)
    }
  }

  func value(_ type: Int64) throws -> [UInt8] {
    guard let attribute = attributes.first(where: { $0.type == type }) else {
      throw DERTree.Malformed()
    }
    return attribute.value
  }

  /// The attributes of each purchase, in the order of the receipt.
  func items() throws -> [[Attribute]] {
    try attributes.filter { $0.type == 17 }.map { try Self.attributes(of: $0.value) }
  }
}
