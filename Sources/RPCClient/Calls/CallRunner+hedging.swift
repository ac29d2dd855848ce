import NIOCore
import Wire

extension CallRunner {
  private enum Event: Sendable {
    case delayOver
    case answered(Result<ByteBuffer, RPCClientError>)
  }

  /// Sends a read. After the delay, sends it once more over another connection, if there is one and
  /// the retry budget allows it. The first answer wins; the other attempt is cancelled.
  func hedged(
    _ request: RPCRequest, over lease: ConnectionPool.Lease, until deadline: NIODeadline,
    after delay: Duration
  ) async -> Result<ByteBuffer, RPCClientError> {
    await withTaskGroup(of: Event.self) { group in
      group.addTask { .answered(await self.send(request, over: lease, until: deadline)) }
      group.addTask {
        // When the sleep is cancelled, the group has ended and ignores this event.
        try? await Task.sleep(for: delay)
        return .delayOver
      }
      var sent = 1
      var failure: RPCClientError?
      var result: Result<ByteBuffer, RPCClientError>?
      while sent > 0, result == nil, let event = await group.next() {
        switch event {
        case .answered(.success(let answer)):
          result = .success(answer)
        case .answered(.failure(let error)):
          sent -= 1
          failure = error.told(after: failure)
          // A definite error ends the call. After any other, the other attempt may still succeed.
          if error.wasSent, !error.allowsRepeat(.noSideEffects) { result = .failure(error) }
        case .delayOver:
          guard !Task.isCancelled, let other = self.otherLease(than: lease) else { continue }
          sent += 1
          group.addTask { .answered(await self.send(request, over: other, until: deadline)) }
        }
      }
      group.cancelAll()
      // At least one request was sent, so without an answer there is a failure.
      return result ?? .failure(failure ?? .cancelled)
    }
  }

  private func otherLease(than lease: ConnectionPool.Lease) -> ConnectionPool.Lease? {
    guard let other = pool.otherConnection(than: lease) else { return nil }
    if budget.take() { return other }
    pool.callEnded(other, .unknown)
    return nil
  }
}
