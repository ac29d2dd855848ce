import AccessControl
import Framing
import NIOCore

/// Connections that no known caller has used, on a server with access control. Anybody can open them:
/// they last for a short time only, and give way to others.
extension ServerConnectionHandler {
  /// A new connection: its caller is expected within `RPCLimits.unknownTime`, unless the transport
  /// names it.
  func expectCaller(channel: any Channel) {
    access.refresh()
    guard !access.isKnown else { return }
    unknownUntil = peer.eventLoop.now + unknownTime
    registry.unknown.opened(peer.connectionID, channel)
  }

  /// A known caller has used the connection, or it is closed.
  func callerIsKnown() {
    guard unknownUntil != nil else { return }
    unknownUntil = nil
    registry.unknown.ended(peer.connectionID)
  }

  /// A call had no valid credential. It costs as much as a broken frame, so that a client that tries
  /// tokens loses its connection, and a token of the server's, so that many connections cannot do what
  /// one cannot.
  func credentialRefused() {
    let now = peer.eventLoop.now
    streams.credentialRefused(now: now)
    if !access.gate.paces(now: now) { readPause = now + TimeAmount(RPCLimits.refusalPause) }
  }

  /// Why a call that needs no credential is not taken; nil if it is.
  func refusalOfOpenCall(_ call: ServerCall) -> RPCStatus? {
    guard unknownUntil != nil else { return nil }
    if call.request.payload.readableBytes > RPCLimits.openRequestLength {
      return RPCStatus(
        .invalidArgument,
        "the request has more than \(RPCLimits.openRequestLength) bytes, and no credential")
    }
    if openCalls.count >= RPCLimits.unknownStreams {
      return RPCStatus(
        .resourceExhausted,
        "more than \(RPCLimits.unknownStreams) streams on a connection without a credential")
    }
    return nil
  }

  /// Ends the streams of a connection without a known caller, and closes it.
  func endUnknown() {
    guard unknownUntil != nil else { return }
    callerIsKnown()
    end(streams.channelClosed(), RPCStatus(.missing))
    settle()
  }
}
