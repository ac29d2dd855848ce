/// Keeps long computations off event loops. A read runs on its caller's event loop, where its time
/// grows with the number of its customers' facts.
package enum LoopTime {
  /// The number of facts whose rows are read, or whose states are computed, on an event loop. They take
  /// about 0.5 ms.
  package static let maximumFacts = 128

  /// Computes where the caller runs, or on the global executor if there are many facts.
  package static func run<Value: Sendable>(
    facts: Int, _ body: @escaping @Sendable () -> Value
  ) async -> Value {
    if facts <= maximumFacts { return body() }
    return await Task(executorPreference: globalConcurrentExecutor) { body() }.value
  }
}
