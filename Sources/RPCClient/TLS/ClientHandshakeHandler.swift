import Cryptography
import Framing
import Glibc
import NIOCore
import NIOSSL
import NIOTLS

/// Waits for the TLS handshake of a client's connection, behind the TLS handler.
final class ClientHandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  private let tls: NIOSSLClientHandler
  /// The name or address that the server's certificate must have.
  private let host: String
  private let timeout: TimeAmount
  private let promise: EventLoopPromise<Void>
  private var timer: Scheduled<Void>?
  private var hasEnded = false

  init(tls: NIOSSLClientHandler, host: String, timeout: TimeAmount, eventLoop: any EventLoop) {
    self.tls = tls
    self.host = host
    self.timeout = timeout
    promise = eventLoop.makePromise()
  }

  /// Fails with ``TLSFault``, or another error.
  var finished: EventLoopFuture<Void> { promise.futureResult }

  func handlerAdded(context: ChannelHandlerContext) {
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) {
      self.end(with: ChannelError.connectTimeout(self.timeout))
      context.close(promise: nil)
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    end(with: TLSFault(.ended))
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case TLSUserEvent.handshakeCompleted = event {
      // swift-nio-ssl would also accept a certificate for the address of the connection. A false
      // answer of DNS could then lead to a server that has a valid certificate for its own address.
      guard let certificate, certificate.isFor(host: host) else {
        end(with: TLSFault(.wrongName))
        context.close(promise: nil)
        return
      }
      timer?.cancel()
      hasEnded = true
      promise.succeed()
      context.fireUserInboundEventTriggered(event)
      context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
      return
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    var failure = TLSFailure(of: String(describing: error))
    if failure == .untrusted, !isCertificateValidNow {
      failure = .notValidNow
    }
    end(with: failure == .other && !(error is NIOSSLError) ? error : TLSFault(failure))
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    end(with: TLSFault(.ended))
    context.fireChannelInactive()
  }

  private var certificate: Certificate? {
    guard let der = try? tls.peerCertificate?.toDERBytes() else { return nil }
    return try? Certificate(der: der)
  }

  private var isCertificateValidNow: Bool {
    guard let certificate else { return true }
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return certificate.validity.contains(Int64(now.tv_sec) * 1_000)
  }

  private func end(with error: any Error) {
    timer?.cancel()
    guard !hasEnded else { return }
    hasEnded = true
    promise.fail(error)
  }
}

/// Why a TLS connection of a client failed.
struct TLSFault: Error {
  let failure: TLSFailure

  init(_ failure: TLSFailure) {
    self.failure = failure
  }

  /// Nil unless the error is one of TLS with a known reason.
  init?(_ error: any Error) {
    guard error is BoringSSLError || error is NIOSSLError else { return nil }
    let failure = TLSFailure(of: String(describing: error))
    if failure == .other { return nil }
    self.failure = failure
  }

  /// The reason, for people.
  var text: String {
    switch failure {
    case .notTLS: "the server does not speak TLS there"
    case .version: "the server has no TLS 1.3"
    case .noCertificate: "the server requires a client certificate"
    case .untrusted: "the server's certificate is not signed by a trusted authority"
    case .notValidNow: "the server's certificate is expired or not valid yet"
    case .wrongName: "the server's certificate is for another name"
    case .authorityRefused: "the server does not trust the authority of the client certificate"
    case .expiryRefused: "the client certificate is expired"
    case .certificateRefused: "the server refuses the client certificate"
    case .ended: "the server ended the TLS handshake, or does not speak TLS there"
    case .other: "the TLS handshake failed"
    }
  }
}
