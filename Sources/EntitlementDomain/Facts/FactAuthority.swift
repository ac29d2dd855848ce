/// How much a statement weighs against another one about the same thing: the greater stands,
/// whenever it was signed. Raw values are stored: they keep their meaning.
public enum FactAuthority: Int, Hashable, Comparable, Sendable {
  /// A response of `verifyReceipt` that an operator imported: nobody signed it, so it never replaces
  /// anything that Apple signed.
  case archivedResponse = 0
  /// A legacy receipt (PKCS#7), verified: it never replaces what came as a JWS.
  case receipt = 1
  /// A JWS of its own.
  case signedTransaction = 2

  /// Apple signed it, in whatever form.
  public var isSigned: Bool { self > .archivedResponse }

  public static func < (left: Self, right: Self) -> Bool {
    left.rawValue < right.rawValue
  }
}
