import AccessControl
import EntitlementService
import EntitlementStore
import Framing
import NIOCore
import RPCServer
import Traces
import Wire
import Workers

/// How a method answers a call.
enum Response: Sendable {
  /// With this payload, on the event loop.
  case now(ByteBuffer)
  /// With the result of this work, in a task.
  case later(@Sendable () async throws -> ByteBuffer)
  /// By ``CustomerReader``, which calls back when it has the answer.
  case elsewhere
}

extension RPCAnswer {
  /// Decodes the request, checks its caller, and answers as `body` returns. Errors are mapped to statuses. `body` runs
  /// on the event loop and must not block.
  func respond<Request: AuthorizedRequest>(
    to call: RPCCall, _ type: Request.Type, _ body: (Request) throws -> Response
  ) {
    do {
      switch try body(try call.authorizedRequest(type)) {
      case .now(let payload):
        succeed(payload)
      case .later(let work):
        perform(
          work, CallContext(deadline: call.instant, source: call.source, caller: call.auditCaller))
      case .elsewhere:
        break
      }
    } catch {
      fail(RPCStatus(mapping: error))
    }
  }

  private func perform(
    _ work: @escaping @Sendable () async throws -> ByteBuffer, _ context: CallContext
  ) {
    let task = Task {
      do {
        try Task.checkCancellation()
        succeed(try await CallContext.$current.withValue(context) { try await work() })
      } catch {
        fail(RPCStatus(mapping: error))
      }
    }
    // Cancels work that has not begun. A submission that the store has accepted is still committed.
    onCancel { task.cancel() }
  }
}

/// A call that waits for a customer's answer from ``CustomerReader``.
final class ReadCall: ReadWaiter {
  private let answer: RPCAnswer
  private let payload: @Sendable (CustomerAnswer) throws -> ByteBuffer

  /// - Parameter payload: Makes the call's answer from the customer's answer.
  init(_ answer: RPCAnswer, _ payload: @escaping @Sendable (CustomerAnswer) throws -> ByteBuffer) {
    self.answer = answer
    self.payload = payload
  }

  var isWaiting: Bool { !answer.isCancelled }

  var eventLoop: (any EventLoop)? { answer.eventLoop }

  var source: WorkSource { answer.identity.source(on: answer.peer) }

  var span: CallSpan? { answer.span }

  func finish(_ result: Result<CustomerAnswer, ServiceError>) {
    answer.finish(Result { try payload(try result.get()) })
  }
}

extension RPCAnswer {
  /// Answers with a payload, or with the status of an error.
  func finish(_ result: Result<ByteBuffer, any Error>) {
    switch result {
    case .success(let payload): succeed(payload)
    case .failure(let error): fail(RPCStatus(mapping: error))
    }
  }
}

extension RPCCall {
  /// The source of the work that the call causes.
  var source: WorkSource { identity.source(on: peer) }

  /// The deadline on the clock of the use cases.
  var instant: ContinuousClock.Instant? {
    deadline.map { deadline in
      ContinuousClock.now + .nanoseconds((deadline - .now()).nanoseconds)
    }
  }
}
