import Cryptography
import Dispatch
import Framing
import NIOCore
import NIOEmbedded
import RPCServer
import Synchronization
import Wire

/// Methods for tests, and the events of their calls.
final class TestService: Sendable {
  enum Event: Hashable, Sendable {
    /// A call to `Hold` or `HoldStream` has arrived with this payload.
    case held(String)
    /// The call's `onCancel` has run.
    case cancelled(String)
    /// The same, but while the body of a call was using its stream.
    case cancelledInside(String)
  }

  /// The events, in order. For one reader.
  let events: AsyncStream<Event>
  private let continuation: AsyncStream<Event>.Continuation
  private let answers = Mutex<[String: RPCAnswer]>([:])
  private let streams = Mutex<[String: RPCServerStream]>([:])
  /// Locked around all operations of the locked streams. Locking it twice on one thread is an
  /// error.
  private let lock = Mutex(())
  private let gate = DispatchSemaphore(value: 0)

  init() {
    (events, continuation) = AsyncStream.makeStream()
  }

  /// The answer of the held call with this payload.
  func answer(_ name: String) -> RPCAnswer? {
    answers.withLock { $0[name] }
  }

  /// The stream of the held call with this payload.
  func stream(_ name: String) -> RPCServerStream? {
    streams.withLock { $0[name] }
  }

  /// Releases the answers of all held calls, as when their work ends.
  func forgetAnswers() {
    let answers = answers.withLock { answers in
      defer { answers = [:] }
      return answers
    }
    withExtendedLifetime(answers) {}
  }

  /// Waits for the given events, in order.
  func expect(_ expected: Event...) async -> Bool {
    var iterator = events.makeAsyncIterator()
    for event in expected {
      guard await iterator.next() == event else {
        return false
      }
    }
    return true
  }

  /// Lets a call to `Gate` continue.
  func openGate() {
    gate.signal()
  }

  var router: RPCRouter {
    let service = "test.Service"
    var router = RPCRouter()
    router.unary(service, "Echo", permission: .read) { call, answer in
      answer.succeed(call.payload)
    }
    // Answers payloads that begin with "h" immediately: with that many bytes, or with the payload.
    // "s" and a number is the same with a stamp.
    router.unary(
      service, "Immediate", permission: .read,
      immediate: { bytes, _ in Self.immediateAnswer(ByteBuffer(bytes: bytes)) }
    ) {
      call, answer in
      answer.succeed(Self.immediateAnswer(call.payload)?.stamped() ?? call.payload)
    }
    // Takes as many milliseconds as its payload says.
    router.unary(service, "Slow", permission: .read) { call, answer in
      guard let loop = call.eventLoop as? EmbeddedEventLoop else { return }
      loop.advanceTime(by: .milliseconds(Int64(String(buffer: call.payload)) ?? 0))
      answer.succeed(call.payload)
    }
    // Answers from another thread than the event loop.
    router.unary(service, "Elsewhere", permission: .read) { call, answer in
      DispatchQueue.global().async { answer.succeed(call.payload) }
    }
    router.unary(service, "Fail", permission: .read) { call, answer in
      answer.fail(
        RPCStatus(
          .notFound, "not here",
          errorInfo: RPCStatus.ErrorInfo(reason: "TEST", domain: "entitle", metadata: ["k": "v"]),
          retryDelay: .milliseconds(1500),
          fieldViolations: [RPCStatus.FieldViolation(field: "f", description: "wrong")]))
    }
    router.unary(service, "Twice", permission: .read) { _, answer in
      answer.succeed(ByteBuffer(string: "first"))
      answer.succeed(ByteBuffer(string: "second"))
      answer.fail(RPCStatus(.internal))
    }
    // Answers with the number of bytes given in the payload.
    router.unary(service, "Large", permission: .read) { call, answer in
      answer.succeed(ByteBuffer(repeating: 0x61, count: Int(String(buffer: call.payload)) ?? 0))
    }
    router.unary(service, "Metadata", permission: .read) { call, answer in
      answer.succeed(ByteBuffer(string: call.metadata["authorization"].joined(separator: ",")))
    }
    // The names of the client's certificate, and its user.
    router.unary(service, "Peer", permission: .read) { call, answer in
      let names = (call.peer.certificate?.names ?? []).map(\.description)
      let user = call.peer.userID.map { "user \($0)" }
      answer.succeed(
        ByteBuffer(string: (names + (user.map { [$0] } ?? [])).joined(separator: " ")))
    }
    router.unary(service, "Hold", permission: .read) { [self] call, answer in
      let name = String(buffer: call.payload)
      answers.withLock { $0[name] = answer }
      answer.onCancel { self.continuation.yield(.cancelled(name)) }
      continuation.yield(.held(name))
    }
    // Counts to the payload's number, then ends.
    router.serverStreaming(service, "Count", permission: .read) { call, stream in
      for number in 0..<(Int(String(buffer: call.payload)) ?? 0) {
        stream.send(ByteBuffer(string: "\(number)"))
      }
      stream.finish()
      stream.send(ByteBuffer(string: "after the end"))
    }
    // As health checks: open to everybody.
    router.unary(service, "Open", permission: .open) { call, answer in answer.succeed(call.payload)
    }
    router.serverStreaming(service, "OpenStream", permission: .open) { _, stream in
      stream.send(ByteBuffer(string: "open"))
    }
    router.serverStreaming(service, "FailingStream", permission: .read) { _, stream in
      stream.send(ByteBuffer(string: "one"))
      stream.fail(RPCStatus(.aborted, "no more"))
    }
    router.serverStreaming(service, "HoldStream", permission: .read) { [self] call, stream in
      let name = String(buffer: call.payload)
      streams.withLock { $0[name] = stream }
      stream.onCancel { self.continuation.yield(.cancelled(name)) }
      continuation.yield(.held(name))
    }
    addLockedMethods(service, to: &router)
    return router
  }

  private static func immediateAnswer(_ payload: ByteBuffer) -> StampedMessage? {
    let text = String(buffer: payload)
    let count = Int(text.dropFirst())
    switch text.first {
    case "h":
      return StampedMessage(count.map { ByteBuffer(repeating: 0x68, count: $0) } ?? payload)
    case "s":
      guard let count, count >= StampedMessage.Stamp.length + 2 else { return nil }
      return StampedMessage(
        ByteBuffer(repeating: 0x73, count: count),
        stamp: StampedMessage.Stamp(at: 2, 1_790_000_000_000))
    default: return nil
    }
  }

  private func addLockedMethods(_ service: String, to router: inout RPCRouter) {
    // Blocks the connection's event loop until the gate opens, and never answers.
    router.unary(service, "Gate", permission: .read) { [self] _, _ in
      continuation.yield(.held("gate"))
      _ = gate.wait(timeout: .now() + .seconds(20))
    }
    // Sends its request back while it holds the lock.
    router.serverStreaming(service, "LockedStream", permission: .read) { [self] call, stream in
      let name = String(buffer: call.payload)
      lock.withLock { _ in
        stream.onCancel { self.noteCancellation(name) }
        stream.send(call.payload)
      }
      continuation.yield(.held(name))
    }
    // Sends until it is stopped while it holds the lock, and registers `onCancel` only then.
    router.serverStreaming(service, "LockedFlood", permission: .read) { [self] call, stream in
      let name = String(buffer: call.payload)
      let message = ByteBuffer(repeating: 0x6D, count: 10_000)
      lock.withLock { _ in
        stream.onCancel { self.noteCancellation(name) }
        while stream.send(message) {}
        stream.onCancel { self.noteCancellation("\(name), told late") }
      }
      continuation.yield(.held(name))
    }
  }

  private func noteCancellation(_ name: String) {
    let isFree = lock.withLockIfAvailable { _ in true } ?? false
    continuation.yield(isFree ? .cancelled(name) : .cancelledInside(name))
  }
}
