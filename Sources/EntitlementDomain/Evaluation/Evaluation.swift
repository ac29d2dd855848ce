/// Computes what a customer may use (R1): a pure function of the record's facts and grants, the
/// catalog and the moment. Rules are cited by their numbers.
package enum Evaluation {
  /// - Parameter now: the moment asked about. It may lie in the past or the future: facts known
  ///   today are taken as they are.
  package static func state(
    of record: CustomerRecord, catalog: Catalog, at now: Milliseconds
  ) -> CustomerState {
    evaluate(record, catalog: catalog, at: now).state
  }

  /// The state, and since when it may have been the same.
  package struct Outcome: Hashable, Sendable {
    package let state: CustomerState
    /// The latest moment up to now at which time alone may have changed the answer; nil when there
    /// was none.
    package let lastBoundaryAt: Milliseconds?
  }

  /// As ``state(of:catalog:at:)``, with what tells whether an earlier answer still holds.
  package static func evaluate(
    _ record: CustomerRecord, catalog: Catalog, at now: Milliseconds
  ) -> Outcome {
    evaluate(History(record, catalog: catalog), of: record, at: now)
  }

  /// - Parameter history: that of the record.
  static func evaluate(_ history: History, of record: CustomerRecord, at now: Milliseconds)
    -> Outcome
  {
    var state = history.state(of: record, at: now)
    let moments = history.moments(around: now)
    state.nextTransitionAt = history.nextTransition(of: state, record: record, moments: moments)
    return Outcome(state: state, lastBoundaryAt: moments.latestPast)
  }
}
