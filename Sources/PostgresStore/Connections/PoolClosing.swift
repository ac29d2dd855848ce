/// A pool that is being closed.
struct PoolClosing {
  let deadline: ContinuousClock.Instant
  var continuations: [UnsafeContinuation<Void, Never>] = []
}
