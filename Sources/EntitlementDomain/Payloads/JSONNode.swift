/// One value, or one name, of a JSON text: where it is, not what it says.
///
/// Nodes are kept in the order of the text. An object's node is followed by a name, its value, a
/// name, its value, and so on; an array's node by its values.
struct JSONNode {
  enum Kind: UInt8 {
    case object, array, string, number, trueLiteral, falseLiteral, nullLiteral
  }

  let kind: Kind
  /// A string that is not spelled as it reads.
  let hasEscapes: Bool
  /// Byte offsets. Of a string: what is between its quotes.
  let start: Int32
  var end: Int32
  /// The index of the first node after this one and all inside it.
  var next: Int32
  /// For strings: ``JSONName/hash(of:)`` of what it reads; for others 0.
  let hash: UInt32
}

/// Finds names without making strings of them.
enum JSONName {
  /// FNV-1a. It only saves comparisons: equality is always decided on the bytes.
  static func hash(of bytes: some Sequence<UInt8>) -> UInt32 {
    var hash: UInt32 = 2_166_136_261
    for byte in bytes { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    return hash
  }
}
