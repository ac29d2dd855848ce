import Framing
import Logging
import NIOCore
import Synchronization
import Wire

/// Counts and logs connections that failed before their first call: with one line for each reason in
/// a time, as clients can cause them at will.
final class TransportFaults: Sendable {
  /// Why a connection failed.
  enum Reason: Hashable, Sendable {
    case handshake(TLSFailure)
    /// The handshake was not finished in time.
    case slowHandshake
    /// The oldest of too many unfinished handshakes.
    case evicted
    /// A client that speaks TLS came to a listener without TLS.
    case plainListener

    static var all: [Reason] {
      TLSFailure.allCases.map { .handshake($0) } + [.slowHandshake, .evicted, .plainListener]
    }

    var text: String {
      switch self {
      case .handshake(.notTLS):
        "the client does not speak TLS, and the listener does"
      case .handshake(.version):
        "the client does not offer TLS 1.3"
      case .handshake(.noCertificate):
        "the client has no certificate, and the listener requires one"
      case .handshake(.untrusted):
        "the client's certificate is not signed by an authority of tls_client_ca"
      case .handshake(.notValidNow):
        "the client's certificate is expired or not valid yet"
      case .handshake(.authorityRefused):
        "the client does not know the authority of the server's certificate"
      case .handshake(.expiryRefused):
        "the client says that the server's certificate is expired"
      case .handshake(.certificateRefused), .handshake(.wrongName):
        "the client refuses the server's certificate: often its name or its authority"
      case .handshake(.ended):
        "the client ended the handshake"
      case .handshake(.other):
        "the handshake failed"
      case .slowHandshake:
        "the handshake was not finished in time"
      case .evicted:
        "more than \(RPCLimits.unfinishedHandshakes) handshakes are not finished; this was the oldest"
      case .plainListener:
        "the client speaks TLS, and the listener does not"
      }
    }
  }

  private final class Count: Sendable {
    let log = ShortageLog()
    let total = Atomic(0)
  }

  private let counts: [Reason: Count]
  private let logger: Logger

  init(logger: Logger) {
    self.logger = logger
    counts = Dictionary(uniqueKeysWithValues: Reason.all.map { ($0, Count()) })
  }

  /// Handshakes that failed for any reason.
  var failedHandshakes: Int {
    counts.reduce(0) { sum, count in
      count.key == .plainListener ? sum : sum + count.value.total.load(ordering: .relaxed)
    }
  }

  func occurred(_ reason: Reason, peer: SocketAddress?, detail: String? = nil) {
    guard let count = counts[reason] else { return }
    let total = count.total.add(1, ordering: .relaxed).newValue
    guard count.log.isDue(now: .now()) else { return }
    var metadata: Logger.Metadata = [
      "reason": "\(reason.text)", "count": .stringConvertible(total),
    ]
    if let peer { metadata["peer"] = "\(RPCPeer.place(of: peer))" }
    if let detail { metadata["detail"] = "\(detail)" }
    logger.warning("a connection failed", metadata: metadata)
  }
}
