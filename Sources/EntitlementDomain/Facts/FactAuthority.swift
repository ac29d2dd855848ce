/// How much a statement weighs against another one about the same thing: the greater stands,
/// whenever it was signed. Raw values are stored: they keep their meaning.
package enum FactAuthority: Int, Hashable, Comparable, Sendable {
  /// A legacy receipt (PKCS#7), verified: it never replaces what came as a JWS.
  case receipt = 1
  /// A JWS of its own.
  case signedTransaction = 2

  package static func < (left: Self, right: Self) -> Bool {
    left.rawValue < right.rawValue
  }
}
