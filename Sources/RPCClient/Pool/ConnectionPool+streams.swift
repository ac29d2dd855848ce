import Framing
import NIOCore
import Synchronization

extension ConnectionPool {
  /// Starts a server-streaming call over a connection of its own. It does not wait; a failure is
  /// thrown when the stream is read.
  ///
  /// - Parameters:
  ///   - deadline: the deadline of the whole stream.
  ///   - silence: the longest time without a message; nil sets no limit.
  func serverStream(
    _ request: RPCRequest, until deadline: NIODeadline, silence: Duration?
  ) -> RPCMessageStream {
    let queue = MessageQueue(limit: limits.streamReadBuffer)
    let connection = StreamConnection(for: queue)
    let start = shared.withLock { shared -> Int? in
      if shared.state.isClosing { return nil }
      shared.streams[ObjectIdentifier(connection)] = connection
      shared.nextStreamAddress &+= 1
      return shared.nextStreamAddress
    }
    if let start {
      Task { await open(connection, request, until: deadline, from: start) }
    } else {
      queue.end(.clientClosed)
    }
    let timer = silence.map { SilenceTimer(of: queue, limit: $0) }
    return RPCMessageStream(queue: queue, timer: timer) { [weak self] in
      connection.end()
      self?.forget(connection)
    }
  }

  /// Connects to the servers in turn, beginning at `start`, and skips servers that cannot be
  /// reached.
  private func open(
    _ stream: StreamConnection, _ request: RPCRequest, until deadline: NIODeadline, from start: Int
  ) async {
    var failure = RPCClientError.noAddress
    for offset in addresses.indices where !stream.isEnded {
      do throws(RPCClientError) {
        let connection = try await connection(
          to: (start + offset) % addresses.count, until: deadline)
        var request = request
        request.timeout = deadline.rest(at: .now())
        stream.start(request, over: connection)
        return
      } catch {
        failure = error
      }
    }
    stream.end(failure)
  }

  private func forget(_ connection: StreamConnection) {
    _ = shared.withLock { $0.streams.removeValue(forKey: ObjectIdentifier(connection)) }
  }
}

extension NIODeadline {
  /// The time left, zero or less when the deadline has passed; nil when there is no deadline.
  func rest(at now: NIODeadline) -> Duration? {
    self == .distantFuture ? nil : .nanoseconds((self - now).nanoseconds)
  }
}
