package import Framing
import NIOCore
import Wire

/// The methods of a server, registered before it starts.
package struct RPCRouter: Sendable {
  /// Runs on the connection's event loop and must not block. Answers immediately, or keeps `answer`
  /// and does the work on another thread.
  package typealias UnaryBody = @Sendable (_ call: RPCCall, _ answer: RPCAnswer) -> Void

  /// Runs on the connection's event loop and must not block. Keeps `stream` and sends messages from
  /// any thread.
  package typealias ServerStreamingBody =
    @Sendable (_ call: RPCCall, _ stream: RPCServerStream) -> Void

  /// Returns the answer for the encoded request, or nil. If nil, the call goes to its
  /// ``UnaryBody``, which must give the same answer. Not for methods that depend on metadata or
  /// peer. Runs on the connection's event loop; must not block and must not keep the bytes.
  package typealias ImmediateBody = @Sendable (_ request: UnsafeRawBufferPointer) -> StampedMessage?

  enum Body: Sendable {
    case unary(UnaryBody)
    case serverStreaming(ServerStreamingBody)
  }

  private(set) var bodies: [Body] = []
  private var immediates: [ImmediateMethods.Method] = []
  private var methods: [MethodTable.Method] = []

  package init() {}

  /// Adds a method with one request and one response.
  ///
  /// - Parameters:
  ///   - service: The full proto name, such as `grpc.health.v1.Health`.
  ///   - method: The method's name, such as `Check`. Each method may be added once.
  ///   - immediate: Called before `body`, for admitted calls whose deadline has not passed. Nil if
  ///     the method has no immediate answers.
  package mutating func unary(
    _ service: String, _ method: String, immediate: ImmediateBody? = nil,
    _ body: @escaping UnaryBody
  ) {
    add(service, method, .unary, .unary(body))
    if let immediate {
      let prefix = RequestEnvelope.prefix(service: service, method: method)
      immediates.append(ImmediateMethods.Method(prefix: prefix, body: immediate))
    }
  }

  /// Adds a method with one request and a stream of messages.
  package mutating func serverStreaming(
    _ service: String, _ method: String, _ body: @escaping ServerStreamingBody
  ) {
    add(service, method, .serverStreaming, .serverStreaming(body))
  }

  private mutating func add(
    _ service: String, _ name: String, _ kind: MethodKind, _ body: Body
  ) {
    precondition(
      !methods.contains { $0.service == service && $0.method == name },
      "\(service)/\(name) is registered twice")
    methods.append(MethodTable.Method(service: service, method: name, kind: kind))
    bodies.append(body)
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
    /// The first bytes of the method's request envelopes.
    let prefix: [UInt8]
    let body: RPCRouter.ImmediateBody
  }

  /// A call with less time than this left is compared with the clock, and not with the moment at
  /// which its run of immediate answers began. A run takes less than a millisecond.
  private static let shortTime = TimeAmount.milliseconds(10)

  private let methods: [Method]

  init(_ methods: [Method]) {
    self.methods = methods
  }

  /// The answer to a request envelope; nil if the request must be started as a call, as when its
  /// deadline has passed.
  ///
  /// - Parameters:
  ///   - now: When the first of several answers was looked up.
  ///   - clock: The time now.
  func answer(
    to envelope: UnsafeRawBufferPointer, arrivedAt arrival: NIODeadline, now: NIODeadline,
    clock: () -> NIODeadline
  ) -> StampedMessage? {
    for index in methods.indices {
      let found = RequestEnvelope.content(of: envelope, after: methods[index].prefix)
      guard let (request, timeout) = found else {
        continue
      }
      if timeout != 0 {
        guard timeout > 0 else { return nil }
        // The sum saturates at the distant future.
        let deadline = arrival + .nanoseconds(timeout)
        guard deadline > now + Self.shortTime || deadline > clock() else { return nil }
      }
      return methods[index].body(request)
    }
    return nil
  }
}
