/// A load that keeps a pool of workers busy.
protocol VerifyLoad: Sendable {
  var workers: Int { get }
  /// - Returns: the number of finished verifications, all of them successful.
  func run(until end: ContinuousClock.Instant) async throws -> Int
}
