package import AccessControl
import Cryptography
import EntitlementDomain
import Framing
import NIOCore
import Wire
package import Workers

/// Who the calls of one connection are from. Used on its event loop.
///
/// A call with a token is judged by the token alone. A call without one has the identity of the
/// connection: that of its client certificate, or of the Unix user of its process.
struct ConnectionAccess {
  /// The token that was accepted last. Nearly all calls of a connection have the same one, which is
  /// then only compared, and not hashed.
  private struct Accepted {
    /// The value of the metadata key.
    let value: [UInt8]
    let identity: Identity
    let scope: ConnectionScope
  }

  let gate: AccessGate
  /// Who all calls are from, whatever their credentials.
  private let fixed: Identity?
  private let certificate: ClientCertificate?
  private let user: UInt32?
  /// The generation of the credentials that the rest was looked up in.
  private var generation = 0
  private var own: (identity: Identity, scope: ConnectionScope)?
  private var accepted: Accepted?
  /// The connection counts for the caller that used it last.
  private var lease: CallerConnection?

  init(gate: AccessGate, peer: RPCPeer) {
    self.gate = gate
    fixed = peer.identity
    certificate = peer.certificate
    user = peer.userID
    if let identity = fixed ?? (gate.credentials == nil ? .local : nil) {
      own = (identity, ConnectionScope(identity.caller))
    }
  }

  /// Looks callers up again if other credentials are in force, and forgets a token that has expired.
  /// Called for each read from the socket.
  mutating func refresh() {
    guard let credentials = gate.credentials, fixed == nil else { return }
    if credentials.generation != generation {
      // Before the credentials are read, so that a change in between is seen later.
      generation = credentials.generation
      accepted = nil
      let current = credentials.snapshot.credentials
      let identity =
        certificate.flatMap { current.identity(of: $0) }
        ?? user.flatMap { current.identity(user: $0) }
      own = identity.map { ($0, ConnectionScope($0.caller)) }
    }
    if let certificate, own != nil, certificate.expires <= credentials.now { own = nil }
    if let expires = accepted?.identity.expires, expires <= credentials.now { accepted = nil }
  }

  /// Whether the transport names a known caller, or there is no access control.
  var isKnown: Bool { gate.credentials == nil || own != nil }

  // MARK: Calls that are answered in place

  /// For the calls of one read.
  ///
  /// - Parameter now: a caller that has used its rate of reads is left to the general path.
  func immediate(now: NIODeadline) -> ImmediateAccess {
    guard gate.credentials != nil, fixed == nil else {
      return ImmediateAccess(isOpen: true, own: own?.scope, token: [], accepted: nil)
    }
    let mayUseOwn = own.map { isLeased($0.identity) && allowsRead($0.identity, now) } ?? false
    let mayUseToken =
      accepted.map { isLeased($0.identity) && allowsRead($0.identity, now) } ?? false
    return ImmediateAccess(
      isOpen: false, own: mayUseOwn ? own?.scope : nil, token: accepted?.value ?? [],
      accepted: mayUseToken ? accepted?.scope : nil)
  }

  private func isLeased(_ identity: Identity) -> Bool { lease?.meter === identity.caller.meter }

  private func allowsRead(_ identity: Identity, _ now: NIODeadline) -> Bool {
    identity.caller.meter.allowsRead(now: now)
  }

  /// Charges what was answered in place: once for each read from the socket.
  func countReads(byToken: Int, byConnection: Int, now: NIODeadline) {
    guard gate.credentials != nil else { return }
    if byToken > 0 { accepted?.identity.caller.meter.countReads(byToken, now: now) }
    if byConnection > 0 { own?.identity.caller.meter.countReads(byConnection, now: now) }
  }

  // MARK: All other calls

  /// The identity of a call.
  ///
  /// - Throws: ``AccessRefusal/missing``, ``AccessRefusal/refused``, ``AccessRefusal/connections``.
  mutating func identify(_ request: RequestEnvelope) throws(Refused) -> Identity {
    if let fixed { return fixed }
    guard let credentials = gate.credentials else { return .local }
    let found: Result<Identity, Refused> = request.withAuthorization { value in
      do throws(Refused) {
        return .success(try self.identity(of: value, credentials))
      } catch {
        return .failure(error)
      }
    }
    let identity = try found.get()
    if !isLeased(identity) {
      // The former caller's is given back first: it may be the same caller under another name.
      lease = nil
      lease = identity.caller.meter.openConnection()
      if lease == nil { throw Refused(reason: .connections, caller: identity.caller.name) }
    }
    return identity
  }

  /// Why a call is not from a known caller.
  struct Refused: Error {
    let reason: AccessRefusal
    let caller: String?
  }

  private mutating func identity(
    of value: UnsafeRawBufferPointer?, _ credentials: CredentialsHolder
  ) throws(Refused) -> Identity {
    guard let value else {
      guard let own else { throw Refused(reason: .missing, caller: nil) }
      return own.identity
    }
    if let accepted, accepted.value.withUnsafeBytes({ ConstantTime.areEqual($0, value) }) {
      return accepted.identity
    }
    guard let token = Self.bearerToken(in: value),
      let identity = credentials.snapshot.credentials.identity(
        token: token, now: credentials.now)
    else { throw Refused(reason: .refused, caller: nil) }
    accepted = Accepted(
      value: Array(value), identity: identity, scope: ConnectionScope(identity.caller))
    return identity
  }

  /// The caller of a request with this credential; nil if it is not known. Nothing is counted.
  fileprivate mutating func known(_ authorization: String?) -> Identity? {
    refresh()
    guard let credentials = gate.credentials, fixed == nil, var authorization else {
      return own?.identity
    }
    return authorization.withUTF8 { bytes in
      try? identity(of: UnsafeRawBufferPointer(bytes), credentials)
    }
  }

  /// The token of `Bearer TOKEN` (RFC 6750 section 2.1); the scheme has no case (RFC 9110 section
  /// 11.1).
  private static func bearerToken(in value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    let scheme: StaticString = "bearer"
    let length = scheme.utf8CodeUnitCount
    guard value.count > length + 1, value[length] == UInt8(ascii: " ") else { return nil }
    for index in 0..<length where value[index] | 0x20 != scheme.utf8Start[index] { return nil }
    return UnsafeRawBufferPointer(rebasing: value[(length + 1)...])
  }

  // MARK: Streams

  /// Why a stream must end: its caller has lost the proof, the permission, or a part of the scope.
  /// Nil if it may go on.
  func revocation(of identity: Identity, _ permission: Permission) -> AccessRefusal? {
    guard let credentials = gate.credentials, fixed == nil, permission != .open else { return nil }
    if let expires = identity.expires, expires <= credentials.now { return .refused }
    let current = credentials.snapshot.credentials.identity(
      of: identity.proof, now: credentials.now)
    guard let current, current.caller.name == identity.caller.name else { return .refused }
    if !current.caller.permissions.contains(permission) { return .permission }
    return current.caller.scopes.contains(identity.caller.scopes) ? nil : .scope
  }

  /// When the proof of a stream's caller expires.
  func expiry(of identity: Identity, now: NIODeadline) -> NIODeadline? {
    guard let credentials = gate.credentials, fixed == nil, let expires = identity.expires else {
      return nil
    }
    let left = max(0, expires.rawValue - credentials.now.rawValue)
    // Longer than any connection, and no overflow.
    return now + .milliseconds(min(left, 1 << 40))
  }
}

/// Tells a front whether a request is worth receiving, before its call begins: the call itself is
/// refused or let through in any case. Used on the connection's event loop.
package struct CallerLookup {
  private var access: ConnectionAccess
  private let peer: RPCPeer

  init(_ access: ConnectionAccess, of peer: RPCPeer) {
    self.access = access
    self.peer = peer
  }

  /// The source whose share of memory a request takes; nil if its caller is not known. Where all calls are
  /// from one caller, as those of the App Store, connections share.
  ///
  /// - Parameter authorization: the value of the metadata key `authorization`; nil if there is none.
  package mutating func source(of authorization: String?) -> WorkSource? {
    guard let identity = access.known(authorization) else { return nil }
    return peer.identity == nil ? identity.source(on: peer) : .connection(peer.connectionID)
  }
}

extension Identity {
  /// Callers take turns, the App Store as one of them; without access control, connections do.
  package func source(on peer: RPCPeer) -> WorkSource {
    caller === Caller.local ? .connection(peer.connectionID) : .caller(caller.meter.number)
  }
}

/// Who the calls of one read are from, if they are answered in place.
struct ImmediateAccess {
  /// No access control: credentials are ignored.
  let isOpen: Bool
  /// Of the connection itself; nil if its calls are left to the general path.
  let own: ConnectionScope?
  /// The value of the metadata key that was accepted last.
  let token: [UInt8]
  /// Of this token; nil if its calls are left to the general path.
  let accepted: ConnectionScope?

  /// What the sender of a call may do, and whether it is known by its token; nil if it is not known
  /// without hashing.
  func scope(
    of authorization: UnsafeRawBufferPointer?
  ) -> (ConnectionScope, isByToken: Bool)? {
    guard let authorization, !isOpen else { return own.map { ($0, false) } }
    guard let accepted,
      token.withUnsafeBytes({ ConstantTime.areEqual($0, authorization) })
    else { return nil }
    return (accepted, true)
  }
}

/// Sent through each connection's pipeline when other credentials are in force.
struct CredentialsReplaced: Sendable {}

extension Credentials {
  /// Whose certificate this is, until it expires.
  fileprivate func identity(of certificate: ClientCertificate) -> Identity? {
    identity(certificateNames: certificate.names).map {
      Identity($0.caller, $0.proof, expires: certificate.expires)
    }
  }
}
