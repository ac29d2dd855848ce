import NIOCore
import Synchronization
import Wire

extension ConnectionPool {
  /// Makes one call that is answered with a stream, over a connection of its own. It starts at
  /// once; what fails shows when the stream is read.
  ///
  /// - Parameters:
  ///   - deadline: of the whole stream.
  ///   - silence: how long it may go without a message; nil: for ever.
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
    let alarm = silence.map { SilenceAlarm(of: queue, limit: $0) }
    return RPCMessageStream(queue: queue, alarm: alarm) { [weak self] in
      connection.end()
      self?.forget(connection)
    }
  }

  /// Streams take turns with the servers, and pass over those that cannot be reached.
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
  /// What is left until then, not above zero when it has passed; nil: for ever.
  func rest(at now: NIODeadline) -> Duration? {
    self == .distantFuture ? nil : .nanoseconds((self - now).nanoseconds)
  }
}
