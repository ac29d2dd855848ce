import Framing
import NIOCore
import Wire

/// The client's side of a connection on which a server sends arbitrary frames: each call ends once,
/// and gets nothing after its end or its cancellation.
struct ClientReplay: ~Copyable {
  private var streams = ClientStreams()
  private var open: [StreamID: MethodKind] = [:]

  static func run(_ frames: [DecodedFrame]) throws(BrokenInvariant) {
    var replay = ClientReplay()
    for kind in [MethodKind.unary, .serverStreaming, .unary, .serverStreaming] {
      if let id = replay.streams.callStarted(kind: kind, deadline: nil) { replay.open[id] = kind }
    }
    // The second stream is cancelled; the server does not know that.
    let abandoned = StreamID(rawValue: 3)
    replay.streams.callAbandoned(abandoned)
    replay.open[abandoned] = nil
    for frame in frames { try replay.receive(frame) }
    try replay.finish()
  }

  private mutating func receive(_ frame: DecodedFrame) throws(BrokenInvariant) {
    switch streams.frameReceived(frame) {
    case .ignore:
      break
    case .succeed(let id, _):
      try require(open.removeValue(forKey: id) == .unary, "an answer is for an open unary call")
    case .fail(let id, let status):
      try require(open.removeValue(forKey: id) != nil, "a failure is for an open call")
      try require(status.code != .ok, "a failure has another code than OK")
    case .deliver(let id, _):
      try require(open[id] == .serverStreaming, "a message is for an open stream")
    case .deliverLast(let id, _), .finish(let id):
      try require(
        open.removeValue(forKey: id) == .serverStreaming, "an end is for an open stream")
    case .close(let status):
      try require(status.code != .ok, "a connection is closed with a failure")
      try require(
        streams.callStarted(kind: .unary, deadline: nil) == nil, "no call starts after that")
    }
  }

  private consuming func finish() throws(BrokenInvariant) {
    try require(
      Set(streams.channelClosed()) == Set(open.keys), "each open call gets the end")
  }
}
