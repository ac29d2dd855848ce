package import NIOCore
import Wire

/// What a server can be asked, put together before it starts.
package struct RPCRouter: Sendable {
  /// Runs on the connection's event loop: it must not block. It answers at once, or keeps
  /// `answer` and has the work done elsewhere.
  package typealias UnaryBody = @Sendable (_ call: RPCCall, _ answer: RPCAnswer) -> Void

  /// Runs on the connection's event loop: it must not block. It keeps `stream` and sends from
  /// wherever messages arise.
  package typealias ServerStreamingBody =
    @Sendable (_ call: RPCCall, _ stream: RPCServerStream) -> Void

  /// Answers from the bytes of the request at once, or gives nil: then the call is opened and goes to its
  /// ``UnaryBody``, whose answer must be the same. Metadata and peer are not seen: it is not for a method
  /// whose answer depends on them. Runs on the connection's event loop, must not block and must not keep
  /// the bytes.
  package typealias ImmediateBody = @Sendable (_ request: UnsafeRawBufferPointer) -> ByteBuffer?

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
  ///   - method: The method's name, such as `Check`. Each may be added once.
  ///   - immediate: Tried before `body` with a call that would be started, in time. Nil for a method
  ///     whose answers are never at hand.
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

  /// Nil when there are none.
  var immediateMethods: ImmediateMethods? {
    immediates.isEmpty ? nil : ImmediateMethods(immediates)
  }

  /// Indices in it are those of ``bodies``.
  var methodTable: MethodTable {
    MethodTable(methods)
  }
}

/// The methods of a router that may be answered from the bytes of a request alone. An object: handing
/// it on counts one reference.
final class ImmediateMethods: Sendable {
  struct Method: Sendable {
    /// How the envelope of its requests begins.
    let prefix: [UInt8]
    let body: RPCRouter.ImmediateBody
  }

  private let methods: [Method]

  init(_ methods: [Method]) {
    self.methods = methods
  }

  /// The answer to a request envelope; nil when it has to be opened as a call.
  func answer(
    to envelope: UnsafeRawBufferPointer, arrivedAt arrival: NIODeadline, now: NIODeadline
  ) -> ByteBuffer? {
    for index in methods.indices {
      let found = RequestEnvelope.content(of: envelope, after: methods[index].prefix)
      guard let (request, timeout) = found else {
        continue
      }
      guard timeout == 0 || (timeout > 0 && arrival + .nanoseconds(timeout) > now) else {
        return nil
      }
      return methods[index].body(request)
    }
    return nil
  }
}
