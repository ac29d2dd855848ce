import EntitlementDomain
import StoreSimulator
import Wire

/// What the simulator knows of its customers, compared with what a server says of them.
struct KnownCustomers: Sendable {
  /// Between the asking and the answering clock: more than synchronised clocks are apart, less than
  /// the hours between the moments at which a customer's state changes.
  static let clockTolerance: Int64 = 5_000

  let customers: BulkCustomers

  /// When a call was under way, on this machine's clock.
  struct CallTime: Hashable, Sendable {
    let sent: Milliseconds
    let received: Milliseconds

    var earliest: Milliseconds { sent.advanced(by: -KnownCustomers.clockTolerance) }
    var latest: Milliseconds { received.advanced(by: KnownCustomers.clockTolerance) }
  }

  /// Compares all of a state but its revision.
  ///
  /// - Returns: what is wrong with it, for people; nil: nothing.
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

  /// - Returns: what is wrong with the state of an account that nobody has; nil: nothing.
  func fault(in state: CustomerState, ofStranger account: AccountID, at time: CallTime) -> String? {
    let record = CustomerRecord(scope: BulkCustomers.scope, accountID: account)
    return (fault(in: state, of: record) ?? StateDifference.staleness(of: state, at: time))
      .map { "account \(account), which nobody has: \($0)" }
  }

  /// - Returns: what is wrong with the answer of CheckEntitlement; nil: nothing.
  func fault(
    in answer: CheckEntitlementResponse, about entitlement: EntitlementID, ofCustomer index: Int,
    at time: CallTime
  ) -> String? {
    let name = "customer \(BulkCustomers.account(at: index)), entitlement \(entitlement)"
    guard let record = try? customers.record(at: index) else {
      return "\(name): the simulator's own payloads cannot be read"
    }
    if answer.revision == 0, !record.facts.isEmpty { return "\(name): not known to the server" }
    // The answer does not say for which moment it was computed: any of the call's will do.
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
    // The same moment, so that only what differs differs.
    let expected = Evaluation.state(
      of: record, catalog: customers.catalog, at: state.evaluatedAt)
    return StateDifference.text(state, expected: expected)
  }
}
