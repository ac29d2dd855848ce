/// One element of a DER text: where it is, not what it says.
package struct DERElement: Hashable, Sendable {
  /// The identifier octet.
  package let tag: UInt8
  /// All of it, and what is inside it.
  package let range: Range<Int>
  package let contents: Range<Int>
}
