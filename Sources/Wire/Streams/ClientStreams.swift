package import NIOCore

/// The streams of one connection, as the client sees them. No I/O and no clock.
package struct ClientStreams: ~Copyable {
  private enum Stream {
    case unary(deadline: NIODeadline?)
    case serverStreaming(deadline: NIODeadline?)
    /// Given up by the caller, but the server does not know (ttrpc cannot say so): the id is not
    /// used again before the server has ended the stream.
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

  /// No call in flight has an earlier deadline than this. May be earlier than the earliest one.
  package private(set) var earliestDeadline = NIODeadline.distantFuture

  package init() {}

  /// A call is made.
  ///
  /// - Returns: The id to send it under, or nil when the connection is closed.
  package mutating func callStarted(kind: MethodKind, deadline: NIODeadline?) -> StreamID? {
    if isClosed {
      return nil
    }
    // After two thousand million calls the ids begin again; those in use are left out.
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

  /// The request turned out not to fit a frame, so that the server never saw it.
  package mutating func callNotSent(_ id: StreamID) {
    streams.remove(id)
  }

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
      // A server may end a stream with an OK response in place of the closing data frame.
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

  /// The caller no longer waits for this call.
  package mutating func callAbandoned(_ id: StreamID) {
    if streams[id] != nil {
      streams.remove(id)
      streams.insert(.abandoned, id: id)
    }
  }

  /// - Returns: The calls whose deadline has passed. They count as abandoned.
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

  /// - Returns: The calls that will not be answered any more.
  package mutating func channelClosed() -> [StreamID] {
    isClosed = true
    let open = streams.all.filter {
      if case .abandoned = $0.stream { false } else { true }
    }
    streams.removeAll()
    earliestDeadline = .distantFuture
    return open.map(\.id)
  }

  /// Ends a stream; tells no one when the caller has given it up.
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

/// What the client's channel handler does about a frame.
package enum ClientAction: Hashable, Sendable {
  /// Nobody waits for it.
  case ignore
  /// The unary call is answered with this payload.
  case succeed(StreamID, ByteBuffer)
  /// The call or stream has failed.
  case fail(StreamID, RPCStatus)
  /// The stream has its next message.
  case deliver(StreamID, ByteBuffer)
  /// The stream has its next message, which is its last.
  case deliverLast(StreamID, ByteBuffer)
  /// The stream has ended well.
  case finish(StreamID)
  /// What the server sends makes no sense: close the connection.
  case close(RPCStatus)
}
