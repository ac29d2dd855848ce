import EntitlementDomain

/// In which of its parts a state is another than expected, in words for people.
enum StateDifference {
  /// - Returns: nil when they are the same but for their revisions.
  static func text(_ state: CustomerState, expected: CustomerState) -> String? {
    var expected = expected
    expected.revision = state.revision
    guard state != expected else { return nil }
    var parts: [String] = []
    func compare<Value: Equatable>(_ name: String, _ value: Value, _ other: Value) {
      if value != other { parts.append("\(name) \(value), expected \(other)") }
    }
    compare("account", state.accountID?.rawValue ?? "none", expected.accountID?.rawValue ?? "none")
    compare("app", "\(state.scope.bundleID)", "\(expected.scope.bundleID)")
    compare("state", "\(state.coreState)", "\(expected.coreState)")
    compare("entitlements", names(state), names(expected))
    compare("suggestions", "\(state.callsToAction)", "\(expected.callsToAction)")
    compare(
      "next transition", state.nextTransitionAt?.rfc3339 ?? "none",
      expected.nextTransitionAt?.rfc3339 ?? "none")
    if parts.isEmpty {
      // Long, and mostly alike: their names must do.
      if state.entitlements != expected.entitlements { parts.append("sources of entitlements") }
      if state.products != expected.products { parts.append("products") }
      if state.groups != expected.groups { parts.append("subscription groups") }
      if state.grandfathering != expected.grandfathering { parts.append("grandfathering") }
      return "other \(parts.joined(separator: ", ")) than expected"
    }
    return parts.joined(separator: "; ")
  }

  /// - Returns: nil when the state was in force at some moment of the call.
  static func staleness(of state: CustomerState, at time: KnownCustomers.CallTime) -> String? {
    if state.evaluatedAt > time.latest {
      return "computed for \(state.evaluatedAt.rfc3339), which is still to come"
    }
    if let end = state.nextTransitionAt, end <= time.earliest {
      return "out of date: it was in force until \(end.rfc3339)"
    }
    return nil
  }

  static func moment(_ moment: Milliseconds?) -> String {
    moment.map { " until \($0.rfc3339)" } ?? " without end"
  }

  private static func names(_ state: CustomerState) -> String {
    "[\(state.entitlements.map(\.entitlementID.rawValue).joined(separator: ", "))]"
  }
}
