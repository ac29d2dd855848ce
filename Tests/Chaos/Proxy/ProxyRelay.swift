import NIOCore

/// One proxied connection: forwards bytes, and cuts itself as ordered.
///
/// `@unchecked Sendable`: both channels are on one event loop, and only their handlers touch this.
final class ProxyRelay: @unchecked Sendable {
  private enum Cut {
    case none
    case afterBytes(Int)
    case beforeAnswer
    case made
  }

  private let orders: CutOrders
  private var client: (any Channel)?
  private var database: (any Channel)?
  private var cut = Cut.none

  init(orders: CutOrders) {
    self.orders = orders
  }

  func opened(_ side: ProxyEnd.Side, _ channel: any Channel) {
    switch side {
    case .client: client = channel
    case .database: database = channel
    }
  }

  func closed() {
    // Earlier writes are still flushed; a closed channel ignores this.
    client?.close(promise: nil)
    database?.close(promise: nil)
  }

  func received(_ bytes: ByteBuffer, from side: ProxyEnd.Side) {
    switch side {
    case .client: request(bytes)
    case .database: answer(bytes)
    }
  }

  /// - Returns: whether the other end can take more bytes.
  func hasRoom(beyond side: ProxyEnd.Side) -> Bool {
    switch side {
    case .client: database?.isWritable ?? true
    case .database: client?.isWritable ?? true
    }
  }

  /// Resumes reads that waited for this end.
  func gainedRoom(_ side: ProxyEnd.Side) {
    switch side {
    case .client: database?.read()
    case .database: client?.read()
    }
  }

  private func request(_ bytes: ByteBuffer) {
    if case .none = cut, bytes.readableBytes >= CutRule.smallestRequest,
      let rule = orders.take()
    {
      switch rule {
      case .afterBytes(let count): cut = .afterBytes(count)
      case .beforeAnswer: cut = .beforeAnswer
      }
    }
    switch cut {
    case .made:
      break
    case .none, .beforeAnswer:
      database?.writeAndFlush(bytes, promise: nil)
    case .afterBytes(let count):
      database?.writeAndFlush(
        bytes.getSlice(
          at: bytes.readerIndex, length: min(count, bytes.readableBytes)) ?? bytes, promise: nil)
      cut = .afterBytes(count - bytes.readableBytes)
      if count <= bytes.readableBytes { make() }
    }
  }

  private func answer(_ bytes: ByteBuffer) {
    switch cut {
    case .none: client?.writeAndFlush(bytes, promise: nil)
    case .afterBytes, .beforeAnswer: make()
    case .made: break
    }
  }

  private func make() {
    cut = .made
    orders.done()
    closed()
  }
}
