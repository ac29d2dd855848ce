/// Why a link changed. Raw values are stored: they keep their meaning.
public enum LinkReason: String, Hashable, Sendable {
  /// The submission named the account, and the chain had none.
  case named
  /// The submission named another account than the linked one, and the policy granted the claim
  /// (R44).
  case claimed
  case appAccountToken
  case appTransaction
  case previousChain
  /// An operator's import of what nobody signed named the account, and there was none. Such a link
  /// leads nothing else to the account until the account comes with something signed.
  case imported
  /// Its account was merged into another: by an operator, or because an identified account claimed
  /// what an anonymous one had (R44).
  case merged
  /// An operator linked what had no account.
  case assigned
  /// An operator took it from its account. Hints do not lead it back.
  case unassigned
  /// An operator gave it to another account.
  case transferred
  /// Its account was deleted (R46).
  case deleted
}
