/// A part of a history that has something to say about an entitlement.
struct Finding {
  /// The part, by its positions in the history.
  enum Subject {
    /// A chain, by the period that decides it.
    case chain(Int)
    /// A period of a chain that another product decides.
    case followed(Period, chain: Int)
    case purchase(window: Int, of: Int)
    case grant(Int)
    case grandfathering(Int)
    /// A product that the catalog does not name, by its position in the state (R14).
    case unnamedProduct(Int)
  }

  let subject: Subject
  /// The fact, grant or rule that it rests on first.
  let ground: Ground
  /// How much it says where nothing confers the entitlement; 0 says most.
  let rank: Int
  /// When what it gave ended.
  let end: Milliseconds

  /// What came nearest to conferring, then what did it last (R28).
  func isMoreTelling(than other: Finding) -> Bool {
    if rank != other.rank { return rank < other.rank }
    if end != other.end { return end > other.end }
    return ground < other.ground
  }
}

/// What a decision rests on: a fact, a grant or a rule.
struct Ground: Hashable, Comparable {
  let kind: ConsideredItem.Kind
  let identifier: String

  static func < (left: Self, right: Self) -> Bool {
    if left.kind != right.kind { return left.kind.rawValue < right.kind.rawValue }
    return Identifier<Ground>(left.identifier) < Identifier<Ground>(right.identifier)
  }
}
