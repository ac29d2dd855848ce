/// What a JSON text may cost before it is refused. Far above anything the App Store signs.
package enum JSONLimits {
  /// Bytes. A notification with both of its inner payloads has about 20 kB.
  package static let length = 1_048_576
  /// Nested objects and arrays. Apple nests four; the parser's stack grows with each.
  package static let depth = 64
  /// Members of one object up to which each name is compared with each: faster than a table, and
  /// quadratic.
  static let pairwiseComparedMembers = 8
}
