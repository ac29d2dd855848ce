import AccessControl
import Framing
import NIOCore
import Traces
import Wire

/// Admits calls, and begins them.
///
/// The order: who calls, the permission of the method, calls in flight, memory; of a message in another
/// encoding its price by length, and then its conversion. What is refused costs no more than what was
/// checked before.
extension ServerConnectionHandler {
  /// A call whose caller may make it now.
  private struct AdmittedCall: Sendable {
    let call: ServerCall
    let permission: Permission
    let identity: Identity
    /// What it has paid for its conversion.
    let prepaid: CallCost
    /// Counts its memory, and the call for its caller.
    let memory: CallMemory
    let span: CallSpan?
  }

  func start(_ call: ServerCall) {
    let conversion = exchange(&conversion, with: nil)
    let length = conversion?.length ?? call.request.payload.readableBytes
    let permission = router.permissions[call.method]
    let identity: Identity
    do {
      identity = try authorize(call, permission, length: length)
    } catch {
      switch error {
      case .unidentified(let status): refuseCredential(of: call.id, status)
      case .refused(let status): fail(call.id, status)
      }
      return
    }
    // Everyone may call an open method, so it is not traced.
    let span = tracing == nil || permission == .open ? nil : startSpan(of: call)
    do throws(RPCStatus) {
      let (memory, prepaid) = try charge(
        call, permission, identity, length: length, conversion, span)
      let admitted = AdmittedCall(
        call: call, permission: permission, identity: identity, prepaid: prepaid, memory: memory,
        span: span)
      guard let conversion else {
        begin(admitted, call.request.payload)
        return
      }
      convert(conversion, for: admitted)
    } catch {
      fail(call.id, error)
    }
  }

  /// Counts a call for its caller and its connection until the memory is released, and charges its
  /// conversion.
  ///
  /// - Throws: why the call is not admitted; then nothing is charged.
  private func charge(
    _ call: ServerCall, _ permission: Permission, _ identity: Identity, length: Int,
    _ conversion: RequestConversion?, _ span: CallSpan?
  ) throws(RPCStatus) -> (CallMemory, prepaid: CallCost) {
    let meter = identity.caller.meter
    func refused(_ reason: AccessRefusal, _ delay: Duration) -> RPCStatus {
      logging(span) {
        access.gate.refused(
          identity.caller.name, reason, peer: peer, method: router.name(of: call.method))
      }
      return RPCStatus(reason, retryDelay: delay)
    }
    var inFlight: InFlightCall?
    if access.gate.credentials != nil, permission != .open {
      inFlight = meter.beginCall()
      if inFlight == nil { throw refused(.inFlight, RPCLimits.callerRetryDelay) }
    }
    if memory.waitingBytes > 0 {
      // The request was counted while it was incomplete.
      countMemory()
    }
    guard let memory = memory.count(requestLength: length, inFlight: inFlight) else {
      lackedMemory()
      throw ServerStreams.memoryExhausted
    }
    let price = conversion?.cost(permission: permission) ?? .none
    if let delay = meter.charge(price, now: peer.eventLoop.now) { throw refused(.rate, delay) }
    return (memory, price)
  }

  /// Who a call is from, before its request is decoded.
  ///
  /// - Parameter length: of the message.
  /// - Throws: why its caller may not make the call, counted and logged.
  private func authorize(
    _ call: ServerCall, _ permission: Permission, length: Int
  ) throws(Unauthorized) -> Identity {
    if permission == .open {
      if let refusal = refusalOfOpenCall(length: length) { throw .refused(refusal) }
      return .local
    }
    let identity: Identity
    do {
      identity = try access.identify(call.request)
      callerIsKnown()
    } catch {
      access.gate.refused(
        error.caller, error.reason, peer: peer, method: router.name(of: call.method))
      if error.reason == .connections {
        throw .refused(RPCStatus(.connections, retryDelay: RPCLimits.callerRetryDelay))
      }
      throw .unidentified(RPCStatus(error.reason))
    }
    guard identity.caller.permissions.contains(permission) else {
      let details = ["permission": permission.name]
      access.gate.refused(
        identity.caller.name, .permission, peer: peer, method: router.name(of: call.method),
        details: details)
      throw .refused(RPCStatus(.permission, details: details))
    }
    return identity
  }

  /// Why a call may not be made.
  private enum Unauthorized: Error {
    /// Nobody knows its caller.
    case unidentified(RPCStatus)
    /// Its caller may not make it.
    case refused(RPCStatus)
  }

  // MARK: Conversion

  private func convert(_ conversion: RequestConversion, for admitted: AdmittedCall) {
    let converter = registry.converter
    if conversion.isShort {
      converted(admitted, converter.convertInPlace(conversion))
      return
    }
    let connection = NIOLoopBound(self, eventLoop: peer.eventLoop)
    let deadline = admitted.call.deadline
    Task { [peer] in
      let result = await converter.convert(conversion, of: admitted.identity.source(on: peer)) {
        peer.isClosed || (deadline.map { $0 <= .now() } ?? false)
      }
      peer.eventLoop.execute { connection.value.converted(admitted, result) }
    }
  }

  private func converted(_ admitted: AdmittedCall, _ result: Result<ByteBuffer, RPCStatus>) {
    let call = admitted.call
    // The deadline may have passed meanwhile, or the client may be gone.
    guard context != nil, streams.isInFlight(call.id) else { return }
    switch result {
    case .failure(let status):
      fail(call.id, status)
    case .success(let payload):
      if case .none = admitted.prepaid, admitted.span == nil,
        let message = messageInMemory(for: payload, of: call)
      {
        answer(call.id, with: message)
      } else {
        begin(admitted, payload)
      }
    }
  }

  /// The answer of ``ImmediateMethods`` to a converted request, counted as a read.
  private func messageInMemory(for payload: ByteBuffer, of call: ServerCall) -> StampedMessage? {
    guard let method = immediates?.methods.first(where: { $0.index == call.method }) else {
      return nil
    }
    let now = peer.eventLoop.now
    let immediate = access.immediate(now: now)
    guard
      let (scope, isByToken) = call.request.withAuthorization({ immediate.scope(of: $0) }),
      scope.permissions.contains(method.permission),
      let message = payload.withUnsafeReadableBytes({ method.body($0, scope) })
    else { return nil }
    access.countReads(byToken: isByToken ? 1 : 0, byConnection: isByToken ? 0 : 1, now: now)
    return message
  }

  // MARK: Bodies

  /// Runs the method's body.
  private func begin(_ admitted: AdmittedCall, _ payload: ByteBuffer) {
    let (call, identity, span) = (admitted.call, admitted.identity, admitted.span)
    let method = router.name(of: call.method)
    let request = RPCCall(
      payload: payload, metadata: call.request.metadata, deadline: call.deadline, peer: peer,
      identity: identity, prepaid: admitted.prepaid, method: method, gate: access.gate, span: span)
    let connection = NIOLoopBound(self, eventLoop: peer.eventLoop)
    switch router.bodies[call.method] {
    case .unary(let body):
      let answer = RPCAnswer(
        call: call.id, deadline: call.deadline, peer: peer, identity: identity,
        connection: connection, memory: admitted.memory, span: span)
      logging(span) { body(request, answer) }
    case .serverStreaming(let body):
      access.refresh()
      if let refusal = access.revocation(of: identity, admitted.permission) {
        access.gate.refused(identity.caller.name, refusal, peer: peer, method: method)
        fail(call.id, RPCStatus(refusal))
        return
      }
      let stream = RPCServerStream(
        call: call.id, deadline: call.deadline, peer: peer, connection: connection,
        memory: admitted.memory)
      openCalls[call.id] = OpenCall(
        stream: stream, identity: identity, permission: admitted.permission, method: method)
      watchExpiry(of: identity)
      logging(span) { body(request, stream) }
    }
  }
}
