import Wire

/// A socket that listens, and whose queue is full: who connects to it hears neither yes nor no.
final class FullListener {
  private let listener: RawListener
  private let first: RawClient

  var address: ServerAddress { listener.address }

  init() throws {
    // One is let in beyond the length of the queue.
    listener = try RawListener(backlog: 0)
    first = try RawClient(listener.address)
  }
}
