/// Work for a pool of workers that never has nothing to do.
protocol VerifyLoad: Sendable {
  var workers: Int { get }
  /// - Returns: how many verifications ended, all of them well.
  func run(until end: ContinuousClock.Instant) async throws -> Int
}
