/// Computes the state of a customer (R1): a pure function of the record's facts and grants, the
/// catalog and the moment.
package enum Evaluation {
  /// The state of a customer at a moment.
  ///
  /// - Parameter now: a moment in the past, present or future. All facts of the record are used,
  ///   whenever they were signed.
  package static func state(
    of record: CustomerRecord, catalog: Catalog, at now: Milliseconds
  ) -> CustomerState {
    evaluate(record, catalog: catalog, at: now).state
  }

  /// The state, with the moment since which it may have been the same.
  package struct Outcome: Hashable, Sendable {
    package let state: CustomerState
    /// The latest moment, up to now, at which time alone may have changed the state; nil when there
    /// was none.
    package let lastBoundaryAt: Milliseconds?
  }

  /// The state, with the boundary that shows whether an earlier answer is still valid.
  package static func evaluate(
    _ record: CustomerRecord, catalog: Catalog, at now: Milliseconds
  ) -> Outcome {
    evaluate(History(record, catalog: catalog), of: record, at: now)
  }

  /// - Parameter history: the history of the record.
  static func evaluate(_ history: History, of record: CustomerRecord, at now: Milliseconds)
    -> Outcome
  {
    var state = history.state(of: record, at: now)
    let moments = history.moments(around: now)
    state.nextTransitionAt = history.nextTransition(of: state, record: record, moments: moments)
    return Outcome(state: state, lastBoundaryAt: moments.latestPast)
  }
}
