/// OpenSSL contexts that wait for their next use: setting one up costs more than what it then does.
///
/// A context has one user at a time. Borrow it, use it, and give it back; do not give it back after
/// a failure.
final class ContextPool<Context: Sendable>: Sendable {
  /// More threads than this at once make contexts of their own and free them after use.
  private let limit = 64
  private let idle = Guarded<[Context]>([])

  func borrow() -> Context? {
    idle.withLock { $0.popLast() }
  }

  func giveBack(_ context: Context) {
    idle.withLock { if $0.count < limit { $0.append(context) } }
  }
}
