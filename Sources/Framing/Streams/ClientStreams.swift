package import NIOCore

/// The client's state machine for the streams of one connection. No I/O and no clock.
package struct ClientStreams: ~Copyable {
  private enum Stream {
    case unary(deadline: NIODeadline?)
    case serverStreaming(deadline: NIODeadline?)
    /// Cancelled by the caller. ttrpc cannot cancel a call at the server, so the id is not reused
    /// before the server has ended the stream.
    case abandoned

    var deadline: NIODeadline? {
      switch self {
      case .unary(let deadline), .serverStreaming(let deadline): deadline
      case .abandoned: nil
      }
    }
  }

  private var streams = StreamTable<Stream>()
  private var nextID: UInt32 = 1
  private var isClosed = false

  /// A lower bound of the deadlines of all calls in flight.
  package private(set) var earliestDeadline = NIODeadline.distantFuture

  package init() {}

  /// Starts a call.
  ///
  /// - Returns: The stream id of the call, or nil if the connection is closed.
  package mutating func callStarted(kind: MethodKind, deadline: NIODeadline?) -> StreamID? {
    if isClosed {
      return nil
    }
    // Ids wrap around after 2^31 calls. Ids in use are skipped.
    while streams[StreamID(rawValue: nextID)] != nil {
      nextID &+= 2
    }
    let id = StreamID(rawValue: nextID)
    nextID &+= 2
    if let deadline, deadline < earliestDeadline {
      earliestDeadline = deadline
    }
    switch kind {
    case .unary: streams.insert(.unary(deadline: deadline), id: id)
    case .serverStreaming: streams.insert(.serverStreaming(deadline: deadline), id: id)
    }
    return id
  }

  /// The request was too large for a frame and was not sent.
  package mutating func callNotSent(_ id: StreamID) {
    streams.remove(id)
  }

  /// Handles a decoded frame.
  package mutating func frameReceived(_ decoded: DecodedFrame) -> ClientAction {
    if isClosed {
      return .ignore
    }
    switch decoded {
    case .frame(let frame):
      return switch frame.header.type {
      case .response: responseReceived(frame)
      case .data: dataReceived(frame)
      default: .ignore
      }
    case .oversized(let header):
      return end(
        header.streamID,
        .fail(header.streamID, RPCStatus(.resourceExhausted, "the answer is too large")))
    case .malformed, .unskippable:
      isClosed = true
      return .close(RPCStatus(.internal, "the server sent something that is not a frame"))
    }
  }

  private mutating func responseReceived(_ frame: Frame) -> ClientAction {
    let id = frame.header.streamID
    guard let stream = streams[id] else {
      return .ignore
    }
    let response: ResponseEnvelope
    do {
      response = try ResponseEnvelope(decoding: frame.data)
    } catch {
      return end(id, .fail(id, RPCStatus(.internal, "malformed response envelope: \(error)")))
    }
    if let status = response.status {
      return end(id, .fail(id, status))
    }
    switch stream {
    case .unary, .abandoned:
      return end(id, .succeed(id, response.payload))
    case .serverStreaming:
      // A server may end a stream with an OK response instead of a closing data frame.
      return end(
        id, response.payload.readableBytes == 0 ? .finish(id) : .deliverLast(id, response.payload))
    }
  }

  private mutating func dataReceived(_ frame: Frame) -> ClientAction {
    let id = frame.header.streamID
    guard let stream = streams[id] else {
      return .ignore
    }
    let isLast = frame.header.flags.contains(.remoteClosed)
    let hasMessage = !frame.header.flags.contains(.noData)
    switch stream {
    case .unary:
      return end(id, .fail(id, RPCStatus(.internal, "the server answered with a stream")))
    case .serverStreaming, .abandoned:
      switch (hasMessage, isLast) {
      case (true, true): return end(id, .deliverLast(id, frame.data))
      case (false, true): return end(id, .finish(id))
      case (true, false):
        if case .abandoned = stream {
          return .ignore
        }
        return .deliver(id, frame.data)
      case (false, false): return .ignore
      }
    }
  }

  /// The caller cancelled this call.
  package mutating func callAbandoned(_ id: StreamID) {
    if streams[id] != nil {
      streams.remove(id)
      streams.insert(.abandoned, id: id)
    }
  }

  /// Abandons the calls whose deadline has passed.
  ///
  /// - Returns: These calls.
  package mutating func deadlinesPassed(now: NIODeadline) -> [StreamID] {
    if now < earliestDeadline {
      return []
    }
    let passed = streams.all.filter { $0.stream.deadline.map { $0 <= now } ?? false }
    for (id, _) in passed {
      callAbandoned(id)
    }
    earliestDeadline = streams.all.lazy.compactMap(\.stream.deadline).min() ?? .distantFuture
    return passed.map(\.id)
  }

  /// The connection closed.
  ///
  /// - Returns: The calls that will get no answer.
  package mutating func channelClosed() -> [StreamID] {
    isClosed = true
    let open = streams.all.filter {
      if case .abandoned = $0.stream { false } else { true }
    }
    streams.removeAll()
    earliestDeadline = .distantFuture
    return open.map(\.id)
  }

  /// Ends a stream. The action of an abandoned stream is `ignore`.
  private mutating func end(_ id: StreamID, _ action: ClientAction) -> ClientAction {
    guard let stream = streams[id] else {
      return .ignore
    }
    streams.remove(id)
    if streams.isEmpty {
      earliestDeadline = .distantFuture
    }
    if case .abandoned = stream {
      return .ignore
    }
    return action
  }
}

/// What the client's channel handler does with a frame.
package enum ClientAction: Hashable, Sendable {
  /// No caller waits for the frame.
  case ignore
  /// The unary call succeeded with this payload.
  case succeed(StreamID, ByteBuffer)
  /// The call or stream failed.
  case fail(StreamID, RPCStatus)
  /// Deliver the next message of the stream.
  case deliver(StreamID, ByteBuffer)
  /// Deliver the last message of the stream.
  case deliverLast(StreamID, ByteBuffer)
  /// The stream ended successfully.
  case finish(StreamID)
  /// The server's bytes cannot be decoded: close the connection.
  case close(RPCStatus)
}
