/// The parts of a receipt's CMS message, to be altered.
struct MessageTree {
  var root: DERNode

  init(_ der: [UInt8]) {
    root = DERNode(parsing: der)
  }

  var encoded: [UInt8] { root.encoded }

  /// Version, hash functions, content, certificates, signers.
  var signedData: [DERNode] {
    get { root.children[1].children[0].children }
    set { root.children[1].children[0].children = newValue }
  }

  var algorithms: DERNode {
    get { signedData[1] }
    set { signedData[1] = newValue }
  }

  /// Type, and `[0]` around the octet string.
  var content: DERNode {
    get { signedData[2] }
    set { signedData[2] = newValue }
  }

  var certificates: [DERNode] {
    get { signedData[3].children }
    set { signedData[3].children = newValue }
  }

  var signers: [DERNode] {
    get { signedData[4].children }
    set { signedData[4].children = newValue }
  }

  /// Version, issuer and serial number, hash function, signature algorithm, signature.
  var signer: [DERNode] {
    get { signers[0].children }
    set { signers[0].children = newValue }
  }
}
