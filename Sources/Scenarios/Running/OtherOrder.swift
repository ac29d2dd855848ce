/// Orders in which the facts of a scenario must lead to the same states as in its own (R3).
enum OtherOrder: CaseIterable {
  /// Each fact in a call of its own, twice, the last first.
  case reversed
  /// All facts in one call.
  case together

  /// For people.
  var label: String {
    switch self {
    case .reversed: "facts one by one in reverse order"
    case .together: "facts in one call"
    }
  }
}
