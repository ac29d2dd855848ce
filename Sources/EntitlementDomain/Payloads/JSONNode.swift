/// One value, or one name, of a JSON text: where it is, not what it says.
///
/// Nodes are kept in the order of the text. An object's node is followed by a name, its value, a
/// name, its value, and so on; an array's node by its values.
package struct JSONNode: Sendable {
  package enum Kind: UInt8, Sendable {
    case object, array, string, number, trueLiteral, falseLiteral, nullLiteral
  }

  package let kind: Kind
  /// A string that is not spelled as it reads.
  let hasEscapes: Bool
  /// Byte offsets. Of a string: what is between its quotes.
  package let start: Int32
  package internal(set) var end: Int32
  /// The index of the first node after this one and all inside it.
  package internal(set) var next: Int32
  /// For names: ``JSONName/hash(of:)`` of what it reads; for values 0.
  let hash: UInt32
}
