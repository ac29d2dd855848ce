package import NIOCore
import NIOHTTP1
package import RPCServer
import Synchronization

/// Lets clients of HTTP/1.1 call the methods of the server: each request becomes a frame, and each
/// answer the response. Callers, permissions, limits, deadlines and shutdown are those of the framed
/// front, as the calls go through the same connection handler.
package final class HTTPFront: ConnectionFront {
  package let group: (any EventLoopGroup)?
  package var kind: CallFront { site.kind }
  let site: any HTTPSite
  let limits: HTTPFrontLimits
  let bodies: BodyBudget
  /// The connections that are in no call, which give way to new ones; nil without a limit of its own.
  let waiting: WaitingConnections?
  private let connections = Atomic(0)
  private let refusedConnections = Atomic(0)
  /// By status.
  private let responses = Mutex<[UInt: Int]>([:])

  /// - Parameters:
  ///   - group: The event loops of its connections, apart from those of frames: converting JSON takes
  ///     longer than a framed call. Must outlive the server.
  package init(
    _ site: any HTTPSite, limits: HTTPFrontLimits = HTTPFrontLimits(),
    group: (any EventLoopGroup)? = nil
  ) {
    self.site = site
    self.limits = limits
    self.group = group
    bodies = BodyBudget(capacity: limits.unfinishedBodies)
    waiting = limits.connections < .max ? WaitingConnections() : nil
  }

  package func addHandlers(
    to pipeline: ChannelPipeline.SynchronousOperations, peer: RPCPeer
  ) throws {
    if connections.add(1, ordering: .relaxed).newValue > limits.connections {
      refusedConnections.add(1, ordering: .relaxed)
      guard let oldest = waiting?.takeOldest() else {
        connectionClosed()
        throw TooManyConnections()
      }
      oldest.close(promise: nil)
    }
    let bytes = RequestBytes()
    let calls = HTTPCallHandler(front: self, peer: peer, bytes: bytes)
    bytes.calls = calls
    var decoding = NIOHTTPDecoderLimitConfiguration()
    decoding.maxHeaderFieldSize = HTTPFrontLimits.headerList
    decoding.maxHeaderListSize = HTTPFrontLimits.headerList
    decoding.maxHeaderFieldCount = HTTPFrontLimits.headerFields
    let decoder = HTTPRequestDecoder(
      leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .drop,
      limitConfiguration: decoding)
    try pipeline.addHandlers([
      bytes, HTTPResponseEncoder(), ByteToMessageHandler(decoder), calls,
    ])
  }

  package var statistics: HTTPFrontStatistics {
    HTTPFrontStatistics(
      connectionsOpen: connections.load(ordering: .relaxed), connectionsLimit: limits.connections,
      connectionsRefused: refusedConnections.load(ordering: .relaxed),
      bodyBytes: bodies.bytesInUse, bodyBytesLimit: limits.unfinishedBodies,
      responses: responses.withLock { $0 })
  }

  /// The head of a response is written.
  func responded(_ status: HTTPResponseStatus) {
    responses.withLock { $0[status.code, default: 0] += 1 }
  }

  /// A connection that was added is gone.
  func connectionClosed() {
    connections.subtract(1, ordering: .relaxed)
  }

  private struct TooManyConnections: Error {}
}

/// What a front has done since its start, and what it holds now.
package struct HTTPFrontStatistics: Hashable, Sendable {
  package let connectionsOpen: Int
  package let connectionsLimit: Int
  /// Closed because of the limit: a new one, or one that was in no call.
  package let connectionsRefused: Int
  /// Bytes of unfinished bodies.
  package let bodyBytes: Int
  package let bodyBytesLimit: Int
  /// Responses by status.
  package let responses: [UInt: Int]
}
