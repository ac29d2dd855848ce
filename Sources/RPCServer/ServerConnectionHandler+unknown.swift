import AccessControl
package import Framing
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
    unknownWait = registry.unknown.begin(channel)
  }

  /// A known caller has used the connection, or it is closed.
  func callerIsKnown() {
    guard unknownUntil != nil else { return }
    unknownUntil = nil
    memoryIsKnown()
    if let wait = unknownWait { registry.unknown.end(wait) }
    unknownWait = nil
  }

  /// Refuses a call that has no valid credential. It costs as much as a broken frame, so that a client
  /// that tries tokens loses its connection, and a token of the server, so that many connections cannot
  /// do what one cannot: without tokens, the answer waits.
  func refuseCredential(of call: CallID, _ status: RPCStatus) {
    let now = peer.eventLoop.now
    streams.credentialRefused(now: now)
    guard let moment = access.gate.answerTime(now: now), !streams.hasFailed else {
      fail(call, status)
      return
    }
    heldRefusals += 1
    // A task of its own: the connection's timer would be cancelled for it, which takes a search among
    // the timers of all connections. Weak, as a client may have closed long before.
    peer.eventLoop.assumeIsolated().scheduleTask(deadline: moment) { [weak self] in
      guard let self else { return }
      heldRefusals -= 1
      fail(call, status)
      readOn()
    }
  }

  /// Handles what was received while answers waited, and reads again.
  private func readOn() {
    guard !isHoldingRefusals, !isPaused, !peer.isClosed else { return }
    handleFrames(receivedAt: peer.eventLoop.now)
    settle()
    resumeReading()
  }

  /// Whether the connection is not read, because calls of it wait for their refusal.
  var isHoldingRefusals: Bool { heldRefusals > 0 && unknownUntil != nil }

  /// Why a call that needs no credential is not taken; nil if it is.
  ///
  /// - Parameter length: of its message.
  func refusalOfOpenCall(length: Int) -> RPCStatus? {
    guard unknownUntil != nil else { return nil }
    if length > RPCLimits.openRequestLength { return .openRequestTooLong }
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

extension RPCStatus {
  /// Of a call that needs no credential, and has none.
  package static let openRequestTooLong = RPCStatus(
    .invalidArgument,
    "the request has more than \(RPCLimits.openRequestLength) bytes, and no credential")
}

/// Sent through the pipeline of a connection without a known caller that gives its place to a later one.
struct UnknownEvicted: Sendable {}
