package import AccessControl
package import Framing
import NIOCore
package import Wire

/// The methods of a server, registered before it starts.
package struct RPCRouter: Sendable {
  /// Runs on the connection's event loop and must not block. Answers immediately, or keeps `answer`
  /// and does the work on another thread.
  package typealias UnaryBody = @Sendable (_ call: RPCCall, _ answer: RPCAnswer) -> Void

  /// Runs on the connection's event loop and must not block. Keeps `stream` and sends messages from
  /// any thread.
  package typealias ServerStreamingBody =
    @Sendable (_ call: RPCCall, _ stream: RPCServerStream) -> Void

  /// Returns the answer for the encoded request of a caller who may use `scope`, or nil. If nil, the
  /// call goes to its ``UnaryBody``, which must give the same answer, and refuses an app that is not in
  /// the scope. Not for methods that depend on metadata or peer otherwise. Runs on the connection's
  /// event loop; must not block and must not keep the bytes.
  package typealias ImmediateBody =
    @Sendable (_ request: UnsafeRawBufferPointer, _ scope: borrowing ConnectionScope) ->
    StampedMessage?

  enum Body: Sendable {
    case unary(UnaryBody)
    case serverStreaming(ServerStreamingBody)
  }

  private(set) var bodies: [Body] = []
  /// What callers need, by method: the same indices.
  private(set) var permissions: [Permission] = []
  private var immediates: [ImmediateMethods.Method] = []
  private var methods: [MethodTable.Method] = []

  package init() {}

  /// Adds a method with one request and one response.
  ///
  /// - Parameters:
  ///   - service: The full proto name, such as `grpc.health.v1.Health`.
  ///   - method: The method's name, such as `Check`. Each method may be added once.
  ///   - permission: What a caller needs to call it.
  ///   - immediate: Called before `body`, for admitted calls whose deadline has not passed. Nil if
  ///     the method has no immediate answers.
  package mutating func unary(
    _ service: String, _ method: String, permission: Permission,
    immediate: ImmediateBody? = nil, _ body: @escaping UnaryBody
  ) {
    if let immediate {
      precondition(
        immediates.count < ImmediateMethods.Counts.count, "too many methods have immediate answers")
      let prefix = RequestEnvelope.prefix(service: service, method: method)
      immediates.append(
        ImmediateMethods.Method(
          index: methods.count, prefix: prefix, permission: permission, body: immediate))
    }
    add(service, method, permission, .unary, .unary(body))
  }

  /// Adds a method of `Protos/`.
  package mutating func unary<Request, Response>(
    _ method: WireMethod<Request, Response>, immediate: ImmediateBody? = nil,
    _ body: @escaping UnaryBody
  ) {
    unary(
      method.service, method.name, permission: method.permission, immediate: immediate, body)
  }

  /// Adds a method with one request and a stream of messages.
  package mutating func serverStreaming(
    _ service: String, _ method: String, permission: Permission,
    _ body: @escaping ServerStreamingBody
  ) {
    add(service, method, permission, .serverStreaming, .serverStreaming(body))
  }

  /// Adds a method of `Protos/` with a stream of messages.
  package mutating func serverStreaming<Request, Response>(
    _ method: WireMethod<Request, Response>, _ body: @escaping ServerStreamingBody
  ) {
    serverStreaming(method.service, method.name, permission: method.permission, body)
  }

  private mutating func add(
    _ service: String, _ name: String, _ permission: Permission, _ kind: MethodKind, _ body: Body
  ) {
    precondition(
      !methods.contains { $0.service == service && $0.method == name },
      "\(service)/\(name) is registered twice")
    methods.append(MethodTable.Method(service: service, method: name, kind: kind))
    bodies.append(body)
    permissions.append(permission)
  }

  /// The name of a method, without that of its service.
  func name(of method: Int) -> String { methods[method].method }

  /// The name of a method with that of its service.
  func fullName(of method: Int) -> String {
    "\(methods[method].service)/\(methods[method].method)"
  }

  /// The methods with immediate answers; nil if there are none.
  var immediateMethods: ImmediateMethods? {
    immediates.isEmpty ? nil : ImmediateMethods(immediates)
  }

  /// The table of all methods. Its indices are those of ``bodies``.
  var methodTable: MethodTable {
    MethodTable(methods)
  }
}

/// The methods of a router that may be answered from the bytes of a request alone. A class, so that
/// passing it costs one reference count.
final class ImmediateMethods: Sendable {
  struct Method: Sendable {
    /// The index into ``MethodTable/methods``.
    let index: Int
    /// The first bytes of the method's request envelopes.
    let prefix: [UInt8]
    let permission: Permission
    let body: RPCRouter.ImmediateBody
  }

  /// A call with less time than this left is compared with the clock, and not with the moment at
  /// which its run of immediate answers began. A run takes less than a millisecond.
  private static let shortTime = TimeAmount.milliseconds(10)

  /// Numbers of answers by the position in ``methods``: on the stack, as they are counted for each
  /// read from a socket.
  typealias Counts = InlineArray<4, Int>

  /// A run with fewer answers takes about as long as the first bucket of ``CallDuration`` is wide, so the
  /// clock is not read at its end.
  static let longRun = 32

  let methods: [Method]

  init(_ methods: [Method]) {
    self.methods = methods
  }

  /// An answer, its position in ``methods``, and whether the caller was known by a token.
  struct Answer {
    let message: StampedMessage
    let slot: Int
    let isByToken: Bool
  }

  /// The answer to a request envelope; nil if the request must be started as a call, as when its
  /// deadline has passed, or its caller is not known yet.
  ///
  /// - Parameters:
  ///   - access: Who the calls of the connection are from.
  ///   - isTracing: Whether a call that asks for a trace must be started.
  ///   - now: When the first of several answers was looked up.
  ///   - clock: The time now.
  func answer(
    to envelope: UnsafeRawBufferPointer, from access: borrowing ImmediateAccess,
    isTracing: Bool, arrivedAt arrival: NIODeadline, now: NIODeadline, clock: () -> NIODeadline
  ) -> Answer? {
    for index in methods.indices {
      let found = RequestEnvelope.content(of: envelope, after: methods[index].prefix)
      guard let found else {
        continue
      }
      if isTracing, found.trace == .sampled { return nil }
      if found.timeoutNanoseconds != 0 {
        guard found.timeoutNanoseconds > 0 else { return nil }
        // The sum saturates at the distant future.
        let deadline = arrival + .nanoseconds(found.timeoutNanoseconds)
        guard deadline > now + Self.shortTime || deadline > clock() else { return nil }
      }
      guard let (scope, isByToken) = access.scope(of: found.authorization),
        scope.permissions.contains(methods[index].permission),
        let message = methods[index].body(found.payload, scope)
      else { return nil }
      return Answer(message: message, slot: index, isByToken: isByToken)
    }
    return nil
  }
}
