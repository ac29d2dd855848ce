import Framing
import Wire

/// A listening socket whose accept queue is full: a connection is neither accepted nor refused.
final class FullListener {
  private let listener: RawListener
  private let first: RawClient

  var address: ServerAddress { listener.address }

  init() throws {
    // The kernel accepts one connection more than the length of the queue.
    listener = try RawListener(backlog: 0)
    first = try RawClient(listener.address)
  }
}
