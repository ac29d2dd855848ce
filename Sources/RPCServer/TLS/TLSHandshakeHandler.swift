import Cryptography
import EntitlementDomain
import Framing
import Glibc
import NIOCore
import NIOSSL
import NIOTLS
import Wire

/// Sent through the pipeline of a connection whose handshake gives its place to a later one.
private struct HandshakeEvicted: Sendable {}

/// Waits for a TLS handshake behind the TLS handler. It then adds the connection handler and leaves
/// the pipeline: until then a client can cause nothing but a handshake.
final class TLSHandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  private let timeLimit: TimeAmount
  private let tls: NIOSSLServerHandler
  private let linger: AlertLinger
  /// Up to ``RPCLimits/unfinishedHandshakes``.
  private let unfinished: WaitingConnections
  private let faults: TransportFaults
  /// Called when the handshake is finished, with the client's certificate; nil if it has none.
  private let finished: (_ certificate: ClientCertificate?) throws -> Void
  private var wait: WaitingConnections.Wait?
  private var timer: Scheduled<Void>?
  private var hasEnded = false
  private(set) var isFinished = false

  init(
    timeLimit: TimeAmount, tls: NIOSSLServerHandler, linger: AlertLinger,
    unfinished: WaitingConnections, faults: TransportFaults,
    finished: @escaping (_ certificate: ClientCertificate?) throws -> Void
  ) {
    self.timeLimit = timeLimit
    self.tls = tls
    self.linger = linger
    self.unfinished = unfinished
    self.faults = faults
    self.finished = finished
  }

  func handlerAdded(context: ChannelHandlerContext) {
    wait = unfinished.begin(context.channel)
    if let oldest = unfinished.takeOldest(beyond: RPCLimits.unfinishedHandshakes) {
      oldest.pipeline.fireUserInboundEventTriggered(HandshakeEvicted())
    }
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: timeLimit) {
      self.fail(.slowHandshake, context: context)
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    end()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case TLSUserEvent.handshakeCompleted:
      handshakeCompleted(context: context)
    case is HandshakeEvicted:
      fail(.evicted, context: context)
    case is ShutdownStarted:
      hasEnded = true
      linger.isSkipped = true
      context.close(promise: nil)
    default:
      context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let text = String(describing: error)
    var failure = TLSFailure(of: text)
    if failure == .untrusted, let certificate = clientCertificate, !Self.isValidNow(certificate) {
      failure = .notValidNow
    }
    fail(
      .handshake(failure), context: context,
      detail: failure == .other ? Self.reason(in: text) : nil)
  }

  /// The name of BoringSSL's reason, for those without a text of their own. It has nothing that the
  /// client sent.
  private static func reason(in error: String) -> String? {
    error.firstMatch(of: /OPENSSL_internal:([A-Z0-9_]+)/).map { String($0.1) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  private func handshakeCompleted(context: ChannelHandlerContext) {
    let certificate = clientCertificate
    // A resumed session does not verify the certificate again.
    if let certificate, !Self.isValidNow(certificate) {
      fail(.handshake(.notValidNow), context: context)
      return
    }
    isFinished = true
    end()
    do {
      try finished(
        certificate.map {
          ClientCertificate(
            names: $0.alternativeNames, expires: Milliseconds($0.validity.upperBound))
        })
      context.pipeline.syncOperations.removeHandler(linger, promise: nil)
      context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    } catch {
      context.close(promise: nil)
    }
  }

  private var clientCertificate: Certificate? {
    guard let der = try? tls.peerCertificate?.toDERBytes() else { return nil }
    return try? Certificate(der: der)
  }

  private static func isValidNow(_ certificate: Certificate) -> Bool {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return certificate.validity.contains(Int64(now.tv_sec) * 1_000)
  }

  private func fail(
    _ reason: TransportFaults.Reason, context: ChannelHandlerContext, detail: String? = nil
  ) {
    // Closing the channel can cause another error.
    guard !hasEnded, !isFinished else { return }
    hasEnded = true
    end()
    switch reason {
    case .slowHandshake, .evicted: linger.isSkipped = true
    case .handshake, .plainListener: break
    }
    faults.occurred(reason, peer: context.channel.remoteAddress, detail: detail)
    context.close(promise: nil)
  }

  private func end() {
    timer?.cancel()
    timer = nil
    if let wait { unfinished.end(wait) }
    wait = nil
  }
}
