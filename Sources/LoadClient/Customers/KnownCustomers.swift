import EntitlementDomain
import StoreSimulator
import Wire

/// Compares the answers of a server with the states that the simulator expects.
struct KnownCustomers: Sendable {
  /// Allowed difference between the clocks of client and server, in milliseconds. It is more than
  /// the difference of synchronised clocks, and less than the hours between the state changes of a
  /// customer.
  static let clockTolerance: Int64 = 5_000

  let customers: BulkCustomers

  /// When a call was in flight, on this machine's clock.
  struct CallTime: Hashable, Sendable {
    let sent: Milliseconds
    let received: Milliseconds

    var earliest: Milliseconds { sent.advanced(by: -KnownCustomers.clockTolerance) }
    var latest: Milliseconds { received.advanced(by: KnownCustomers.clockTolerance) }
  }

  /// Compares a whole state except its revision.
  ///
  /// - Returns: the fault, for people; nil when the state is correct.
  func fault(in state: CustomerState, ofCustomer index: Int, at time: CallTime) -> String? {
    let name =
      "customer \(BulkCustomers.account(at: index)) "
      + "(\(customers.timeline(at: index).lifeCycle.rawValue))"
    guard var record = try? customers.record(at: index) else {
      return "\(name): the simulator's own payloads cannot be read"
    }
    if state.revision == 0, !record.facts.isEmpty {
      return "\(name) is not known to the server"
    }
    record.revision = state.revision
    return fault(in: state, of: record).map { "\(name): \($0)" }
      ?? StateDifference.staleness(of: state, at: time).map { "\(name): \($0)" }
  }

  /// - Returns: the fault in the state of an account that must be unknown; nil when it is correct.
  func fault(
    in state: CustomerState, ofUnknownAccount account: AccountID, at time: CallTime
  ) -> String? {
    let record = CustomerRecord(scope: BulkCustomers.scope, accountID: account)
    return (fault(in: state, of: record) ?? StateDifference.staleness(of: state, at: time))
      .map { "unknown account \(account): \($0)" }
  }

  /// - Returns: the fault in the answer of CheckEntitlement; nil when it is correct.
  func fault(
    in answer: CheckEntitlementResponse, about entitlement: EntitlementID, ofCustomer index: Int,
    at time: CallTime
  ) -> String? {
    let name = "customer \(BulkCustomers.account(at: index)), entitlement \(entitlement)"
    guard let record = try? customers.record(at: index) else {
      return "\(name): the simulator's own payloads cannot be read"
    }
    if answer.revision == 0, !record.facts.isEmpty { return "\(name): not known to the server" }
    // The answer does not contain its moment, so any moment of the call is accepted.
    var moment = time.earliest
    while true {
      let state = Evaluation.state(of: record, catalog: customers.catalog, at: moment)
      let sources = state.entitlements.first { $0.entitlementID == entitlement }?.sources ?? []
      let isEndless = sources.contains { $0.until == nil }
      let until = isEndless ? nil : sources.compactMap(\.until).max()
      if answer.isGranted == !sources.isEmpty, answer.until == until,
        answer.nextTransitionAt == state.nextTransitionAt
      {
        return nil
      }
      guard let next = state.nextTransitionAt, next <= time.latest, next > moment else {
        return "\(name): \(answer.isGranted ? "granted" : "not granted")"
          + "\(StateDifference.moment(answer.until)), expected "
          + "\(sources.isEmpty ? "not granted" : "granted")\(StateDifference.moment(until))"
      }
      moment = next
    }
  }

  private func fault(in state: CustomerState, of record: CustomerRecord) -> String? {
    // The same moment, so that the evaluation can be compared.
    let expected = Evaluation.state(
      of: record, catalog: customers.catalog, at: state.evaluatedAt)
    return StateDifference.text(state, expected: expected)
  }
}

/// Describes the difference between a state and the expected one, for people.
enum StateDifference {
  /// - Returns: nil when the states are equal except for their revisions.
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
      // These parts are long: only their names are listed.
      if state.entitlements != expected.entitlements { parts.append("sources of entitlements") }
      if state.products != expected.products { parts.append("products") }
      if state.groups != expected.groups { parts.append("subscription groups") }
      if state.grandfathering != expected.grandfathering { parts.append("grandfathering") }
      return "unexpected \(parts.joined(separator: ", "))"
    }
    return parts.joined(separator: "; ")
  }

  /// - Returns: nil when the state was valid at some moment of the call.
  static func staleness(of state: CustomerState, at time: KnownCustomers.CallTime) -> String? {
    if state.evaluatedAt > time.latest {
      return "computed for \(state.evaluatedAt.rfc3339), which is in the future"
    }
    if let end = state.nextTransitionAt, end <= time.earliest {
      return "out of date: it was valid until \(end.rfc3339)"
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
