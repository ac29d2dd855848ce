/// Keeps long computations off event loops. A read runs on its caller's event loop, where its time
/// grows with the number of its customers' facts.
package enum LoopTime {
  /// The most facts of a batch whose rows are decoded, or whose states are computed, on an event
  /// loop: about a millisecond. The batches of ordinary customers have fewer.
  package static let maximumFacts = 512

  /// Computes where the caller runs, or on the global executor if there are many facts.
  ///
  /// - Parameter facts: facts, grants and customers that the computation visits.
  package static func run<Value: Sendable>(
    facts: Int, _ body: @escaping @Sendable () -> Value
  ) async -> Value {
    if facts <= maximumFacts { return body() }
    return await Task(executorPreference: globalConcurrentExecutor) { body() }.value
  }
}
