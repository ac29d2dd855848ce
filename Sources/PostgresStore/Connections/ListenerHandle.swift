/// A listener, as its owner and the pool's thread know it.
final class ListenerHandle: Sendable {
  let channel: String
  let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init(channel: String) {
    self.channel = channel
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// The channel as SQL wants it: letter by letter, with its quotes doubled.
  var quotedChannel: String {
    "\"\(channel.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
  }

  func heard() { continuation.yield() }

  func finish() { continuation.finish() }
}
