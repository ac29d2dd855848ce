import EntitlementService
import NIOCore
import RPCServer
import Wire

/// How a call is answered: on the event loop at once, or after work elsewhere.
enum Response: Sendable {
  case now(ByteBuffer)
  case later(@Sendable () async throws -> ByteBuffer)
  /// By a reader that was given the way to answer.
  case elsewhere
}

extension RPCAnswer {
  /// Decodes the request and answers with what `body` gives; every error becomes its status.
  /// `body` runs on the event loop and must not block.
  func respond<Request: WireMessage>(
    to call: RPCCall, _ type: Request.Type, _ body: (Request) throws -> Response
  ) {
    do {
      switch try body(try Request.decode(from: call.payload)) {
      case .now(let payload):
        succeed(payload)
      case .later(let work):
        perform(work)
      case .elsewhere:
        break
      }
    } catch {
      fail(RPCStatus(mapping: error))
    }
  }

  private func perform(_ work: @escaping @Sendable () async throws -> ByteBuffer) {
    let task = Task {
      do {
        try Task.checkCancellation()
        succeed(try await work())
      } catch {
        fail(RPCStatus(mapping: error))
      }
    }
    // When nobody waits any more, what has not begun is not done. What a submission has handed
    // to the store by then is committed all the same.
    onCancel { task.cancel() }
  }
}

/// A call that waits for the answer of a reader.
final class ReadCall: ReadWaiter {
  private let answer: RPCAnswer
  private let payload: @Sendable (CustomerAnswer) throws -> ByteBuffer

  /// - Parameter payload: what the call is answered with.
  init(_ answer: RPCAnswer, _ payload: @escaping @Sendable (CustomerAnswer) throws -> ByteBuffer) {
    self.answer = answer
    self.payload = payload
  }

  var isWaiting: Bool { !answer.isCancelled }

  func finish(_ result: Result<CustomerAnswer, ServiceError>) {
    answer.finish(Result { try payload(try result.get()) })
  }
}

extension RPCAnswer {
  func finish(_ result: Result<ByteBuffer, any Error>) {
    switch result {
    case .success(let payload): succeed(payload)
    case .failure(let error): fail(RPCStatus(mapping: error))
    }
  }
}

extension RPCCall {
  /// The deadline on the clock that the use cases know.
  var instant: ContinuousClock.Instant? {
    deadline.map { deadline in
      ContinuousClock.now + .nanoseconds((deadline - .now()).nanoseconds)
    }
  }
}
