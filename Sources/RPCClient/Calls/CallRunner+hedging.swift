import NIOCore
import Wire

extension CallRunner {
  private enum Event: Sendable {
    case delayOver
    case answered(Result<ByteBuffer, RPCClientError>)
  }

  /// Sends a read, and after the delay once more over another connection, if there is one and the
  /// budget has room. The first answer wins; the other is not waited for.
  func hedged(
    _ request: RPCRequest, over lease: ConnectionPool.Lease, until deadline: NIODeadline,
    after delay: Duration
  ) async -> Result<ByteBuffer, RPCClientError> {
    await withTaskGroup(of: Event.self) { group in
      group.addTask { .answered(await self.send(request, over: lease, until: deadline)) }
      group.addTask {
        // Cancelled: nobody looks at it any more.
        try? await Task.sleep(for: delay)
        return .delayOver
      }
      var sent = 1
      // Replaced by what comes: there is one answer at least.
      var result = Result<ByteBuffer, RPCClientError>.failure(.cancelled)
      while sent > 0, let event = await group.next() {
        switch event {
        case .answered(let answer):
          sent -= 1
          result = answer
          if case .failure(let error) = answer, error.allowsRepeat(.noSideEffects) { continue }
          sent = 0
        case .delayOver:
          guard !Task.isCancelled, let other = self.otherLease(than: lease) else { continue }
          sent += 1
          group.addTask { .answered(await self.send(request, over: other, until: deadline)) }
        }
      }
      group.cancelAll()
      return result
    }
  }

  private func otherLease(than lease: ConnectionPool.Lease) -> ConnectionPool.Lease? {
    guard let other = pool.otherConnection(than: lease) else { return nil }
    if budget.take() { return other }
    pool.callEnded(other, .unknown)
    return nil
  }
}
