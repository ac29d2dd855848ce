typealias ExchangeResult = Result<[PostgresRows], PostgresFailure>
typealias ExchangeContinuation = UnsafeContinuation<ExchangeResult, Never>
typealias SessionContinuation = UnsafeContinuation<Result<Int, PostgresFailure>, Never>

/// What other threads tell the thread that owns the connections. Each continuation in it is resumed
/// exactly once by whoever takes the message out.
enum PoolMessage: Sendable {
  case read(PostgresExchange, ExchangeContinuation)
  /// A read, or a wait for a session, has been marked as cancelled.
  case somethingCancelled
  case sessionWanted(SessionRequest, SessionContinuation)
  case sessionReleased(Int)
  case sessionExchange(Int, PostgresExchange, ExchangeContinuation)
  case connected(ConnectTicket, Result<OwnedConnection, PostgresFailure>)
  case listenerAdded(ListenerHandle)
  case listenerRemoved(ListenerHandle)
  case announcementWanted(ListenerHandle)
  case closeWanted(UnsafeContinuation<Void, Never>?)

  /// Answers whoever waits for this message's outcome, when nobody will act on it.
  func refuse() {
    let failure = PostgresFailure(.closed, "the pool is closed")
    switch self {
    case .read(_, let continuation), .sessionExchange(_, _, let continuation):
      continuation.resume(returning: .failure(failure))
    case .sessionWanted(_, let continuation):
      continuation.resume(returning: .failure(failure))
    case .closeWanted(let continuation):
      continuation?.resume()
    case .listenerAdded(let handle):
      handle.finish()
    case .somethingCancelled, .sessionReleased, .connected, .listenerRemoved,
      .announcementWanted:
      break
    }
  }
}
