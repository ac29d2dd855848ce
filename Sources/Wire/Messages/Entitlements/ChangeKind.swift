/// What can change of a customer. Raw values are those of the wire.
public enum ChangeKind: Int, Hashable, Sendable, CaseIterable {
  /// The customer has new facts.
  case facts = 1
  /// A chain or app transaction came to this customer.
  case linked = 2
  /// A chain or app transaction left this customer.
  case unlinked = 3
  /// A grant was given or withdrawn.
  case grants = 4
  /// A notification asks somebody to do or to know something.
  case events = 5
  /// The account was merged into another, or another into it.
  case merged = 6
  /// The account was deleted.
  case deleted = 7
}

extension Set<ChangeKind> {
  /// In the order of their numbers.
  public var inOrder: [ChangeKind] { ChangeKind.allCases.filter(contains) }
}
