package import AccessControl
package import Framing
package import NIOCore

/// An address to listen on, what its clients speak, and who they are.
package struct RPCListener: Sendable {
  package var address: ServerAddress
  /// Nil: clients speak frames.
  package var front: (any ConnectionFront)?
  /// The caller of every call on this address; nil: by the credentials of the call.
  package var identity: Identity?
  /// Whether only operators reach it, as probes do: its connections take places that are kept for
  /// these.
  package var isForOperators: Bool

  package init(
    _ address: ServerAddress, front: (any ConnectionFront)? = nil, identity: Identity? = nil,
    isForOperators: Bool = false
  ) {
    self.address = address
    self.front = front
    self.identity = identity
    self.isForOperators = isForOperators
  }
}

/// What the clients of a listener speak, for the counts of calls.
package enum CallFront: Int, CaseIterable, Sendable {
  case ttrpc
  case connect
  /// HTTP requests of the App Store.
  case notifications

  /// OpenTelemetry's name, where it has one, for metrics and spans.
  package var systemName: String {
    switch self {
    case .ttrpc: "ttrpc"
    case .connect: "connectrpc"
    case .notifications: "app_store_notifications"
    }
  }
}

/// Translates between another protocol and frames, so that its calls have the same callers,
/// permissions, limits, deadlines and answers as those of the framed front.
package protocol ConnectionFront: AnyObject, Sendable {
  var kind: CallFront { get }

  /// The event loops of its connections; nil: those of the server.
  var group: (any EventLoopGroup)? { get }

  /// Adds handlers between the transport and the handler of frames. Inbound they turn what the client
  /// sends into frames, outbound frames into what it reads. Called on the event loop.
  func addHandlers(
    to pipeline: ChannelPipeline.SynchronousOperations, peer: RPCPeer
  ) throws
}
