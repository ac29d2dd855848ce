package import AccessControl
package import Cryptography
package import EntitlementDomain
package import Framing
import Glibc
package import NIOCore
import Synchronization
package import Traces
import Wire

/// A call from a client.
package struct RPCCall: Sendable {
  /// The encoded request message: a slice of the receive buffer. A long call should keep the
  /// decoded message instead, as the slice retains the whole buffer.
  package let payload: ByteBuffer
  package let metadata: RPCMetadata
  /// When the client stops waiting; nil if never. The server then answers DEADLINE_EXCEEDED.
  package let deadline: NIODeadline?
  package let peer: RPCPeer
  /// Who the call is from. Without access control, and for methods that are open to everyone, it is
  /// ``Identity/local``.
  package let identity: Identity
  /// What its caller has paid before the message was converted (``RequestConversion``).
  let prepaid: CallCost
  /// The name of the method.
  let method: String
  let gate: AccessGate
  /// Nil unless the call is traced.
  package let span: CallSpan?

  package var eventLoop: any EventLoop {
    peer.eventLoop
  }

  package var allocator: ByteBufferAllocator {
    peer.allocator
  }

  /// The metadata key of calls that came as GET by HTTP. No header field can have this name.
  package static let getName = ":get"

  /// Whether it came as GET, which other programs may repeat or make ahead: it may change nothing.
  package var isGet: Bool { metadata[Self.getName].first != nil }
}

extension RPCCall {
  /// The status of a call that its caller may not make; counts and logs it.
  ///
  /// - Parameter details: for `ErrorInfo` and the log; never a credential.
  package func refusal(
    _ reason: AccessRefusal, details: [String: String] = [:], retryDelay: Duration? = nil
  ) -> RPCStatus {
    gate.refused(
      identity.caller.name, reason, peer: peer, method: method, details: details)
    return RPCStatus(reason, details: details, retryDelay: retryDelay)
  }

  /// Charges the caller, less what it has paid for the conversion. To be called once.
  ///
  /// - Throws: the status of a call beyond the caller's rate, with the time to wait.
  package func charge(_ cost: CallCost) throws(RPCStatus) {
    if let delay = identity.caller.meter.charge(cost, prepaid: prepaid, now: peer.eventLoop.now) {
      throw refusal(.rate, retryDelay: delay)
    }
  }
}

/// Sends the answer of one unary call, from any thread. Only the first answer counts; an answer
/// after the call has ended is ignored.
///
/// On the call's event loop, the answer is written immediately and flushed together with the other
/// answers of the same read. From other threads, it is scheduled on the event loop. Every call must
/// be answered: it is in flight until then or until its deadline.
package struct RPCAnswer: Sendable {
  let call: CallID
  let deadline: NIODeadline?
  package let peer: RPCPeer
  /// Who the call is from.
  package let identity: Identity
  let connection: NIOLoopBound<ServerConnectionHandler>
  /// Counts the call's memory until the last copy of the answer is gone.
  let memory: CallMemory
  /// Nil unless the call is traced.
  package let span: CallSpan?

  /// The event loop of the call's connection.
  package var eventLoop: any EventLoop { peer.eventLoop }

  /// Answers with an encoded response message.
  package func succeed(_ payload: ByteBuffer) {
    if peer.eventLoop.inEventLoop {
      connection.value.answer(call, with: payload)
    } else {
      peer.eventLoop.execute { connection.value.answer(call, with: payload) }
    }
  }

  /// Answers with a failure.
  package func fail(_ status: RPCStatus) {
    if peer.eventLoop.inEventLoop {
      connection.value.fail(call, status)
    } else {
      peer.eventLoop.execute { connection.value.fail(call, status) }
    }
  }

  /// Whether the connection is closed or the deadline has passed. Safe to read on any thread.
  package var isCancelled: Bool {
    peer.isClosed || (deadline.map { $0 <= .now() } ?? false)
  }

  /// Runs `body` on the event loop when the call ends without its answer: the client disconnected
  /// or broke the protocol, the deadline passed, or the server shuts down. If the call has ended
  /// already, `body` runs soon. It is scheduled as a separate task: no function of this module is
  /// on the call stack.
  package func onCancel(_ body: @escaping @Sendable () -> Void) {
    if peer.eventLoop.inEventLoop {
      connection.value.onCancel(of: call, body)
    } else {
      peer.eventLoop.execute { connection.value.onCancel(of: call, body) }
    }
  }
}

/// What counts of the certificate that a client has proved to have.
package struct ClientCertificate: Hashable, Sendable {
  /// Its subject alternative names.
  package let names: [CertificateName]
  /// The end of its validity.
  package let expires: Milliseconds
}

/// The client of one connection. Safe to use from any thread.
package final class RPCPeer: Sendable {
  /// The number of the connection, counted from 1 for each server.
  package let connectionID: UInt64
  /// Nil if the peer disconnected before the address was read. A Unix socket's peer has no path.
  package let address: SocketAddress?
  /// The event loop on which all calls of the connection start.
  package let eventLoop: any EventLoop
  package let allocator: ByteBufferAllocator
  /// The client's certificate, which was verified; nil without TLS, and for a client without one.
  package let certificate: ClientCertificate?
  /// The user of the client's process; nil unless the connection is by a Unix socket.
  package let userID: UInt32?
  /// What the client speaks.
  let front: CallFront
  /// Who every call of the connection is from, whatever credentials it has; nil: by credentials.
  let identity: Identity?
  private let gate: AccessGate
  private let closed = Atomic(false)

  init(
    connectionID: UInt64, channel: any Channel, gate: AccessGate,
    certificate: ClientCertificate? = nil, front: CallFront = .ttrpc, identity: Identity? = nil
  ) {
    self.gate = gate
    self.front = front
    self.identity = identity
    self.certificate = certificate
    self.userID = Self.userID(of: channel)
    self.connectionID = connectionID
    self.address = channel.remoteAddress
    self.eventLoop = channel.eventLoop
    self.allocator = channel.allocator
  }

  /// Tells whose requests a front reads on this connection.
  package var callers: CallerLookup {
    CallerLookup(ConnectionAccess(gate: gate, peer: self), of: self)
  }

  /// Whether the connection is closed.
  package var isClosed: Bool {
    closed.load(ordering: .relaxed)
  }

  /// The address for logs and the audit trail: `HOST:PORT`, or `unix`.
  package var place: String { Self.place(of: address) }

  static func place(of address: SocketAddress?) -> String {
    guard let address else { return "unknown" }
    guard let host = address.ipAddress, let port = address.port else { return "unix" }
    return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  /// The user that connected (unix(7), `SO_PEERCRED`).
  private static func userID(of channel: any Channel) -> UInt32? {
    guard case .unixDomainSocket? = channel.localAddress else { return nil }
    let user = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) {
      socket -> UInt32? in
      // `struct ucred`, which Glibc does not export: process, user, group.
      var credentials: (Int32, UInt32, UInt32) = (0, 0, 0)
      var length = socklen_t(MemoryLayout.size(ofValue: credentials))
      let result = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length)
      return result == 0 && credentials.1 != Credentials.overflowUser ? credentials.1 : nil
    }
    return user ?? nil
  }

  func markClosed() {
    closed.store(true, ordering: .relaxed)
  }
}
