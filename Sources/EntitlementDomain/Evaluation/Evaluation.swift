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
    var check = CancellationCheck.never
    do {
      return try evaluate(record, catalog: catalog, at: now, check: &check)
    } catch {
      preconditionFailure("an evaluation without a check was cancelled")
    }
  }

  /// The same for a customer with many purchases, which the caller can cancel.
  ///
  /// - Parameter isCancelled: is called on the same thread, about every 256 purchases. It has to be
  ///   cheap, such as a look at a flag.
  /// - Returns: nil if `isCancelled` returned true.
  package static func evaluate(
    _ record: CustomerRecord, catalog: Catalog, at now: Milliseconds,
    isCancelled: @escaping () -> Bool
  ) -> Outcome? {
    var check = CancellationCheck(isCancelled)
    return try? evaluate(record, catalog: catalog, at: now, check: &check)
  }

  private static func evaluate(
    _ record: CustomerRecord, catalog: Catalog, at now: Milliseconds,
    check: inout CancellationCheck
  ) throws(EvaluationCancelled) -> Outcome {
    let history = try History(record, catalog: catalog, check: &check)
    return try evaluate(history, of: record, at: now, check: &check)
  }

  /// - Parameter history: the history of the record.
  static func evaluate(
    _ history: History, of record: CustomerRecord, at now: Milliseconds,
    check: inout CancellationCheck
  ) throws(EvaluationCancelled) -> Outcome {
    let boundaries = history.boundaries(around: now)
    return Outcome(
      state: try history.state(of: record, at: now, boundaries: boundaries, check: &check),
      lastBoundaryAt: boundaries.latestPast)
  }
}

/// Asks the caller of a long evaluation now and then whether its result is still wanted.
struct CancellationCheck {
  private let isCancelled: (() -> Bool)?
  private var stepsLeft = Self.interval

  /// The number of steps from one question to the next. A step is the work for one chain or purchase:
  /// a few microseconds at most, so a cancelled evaluation ends within a millisecond or so.
  private static let interval = 256

  init(_ isCancelled: (() -> Bool)?) {
    self.isCancelled = isCancelled
  }

  static var never: CancellationCheck { CancellationCheck(nil) }

  /// Counts one step.
  mutating func step() throws(EvaluationCancelled) {
    stepsLeft -= 1
    if stepsLeft <= 0 { try ask() }
  }

  /// Asks now: before a stage without steps, such as sorting.
  mutating func ask() throws(EvaluationCancelled) {
    stepsLeft = Self.interval
    if let isCancelled, isCancelled() { throw EvaluationCancelled() }
  }
}

/// The caller does not want the result of the evaluation any more.
struct EvaluationCancelled: Error {}
