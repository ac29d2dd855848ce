import NIOCore
import RPCServer
import Wire

/// How a call is answered: on the event loop at once, or after work elsewhere.
enum Response: Sendable {
  case now(ByteBuffer)
  case later(@Sendable () async throws -> ByteBuffer)
  /// When there is room for a read of so many customers; refused when there will be none soon.
  case read(customers: Int, ReadAdmission, @Sendable () async throws -> ByteBuffer)
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
      case .read(let customers, let admission, let work):
        admission.admit(
          customers: customers,
          start: { ended in
            // Nobody may have waited so long.
            guard !isCancelled else { return false }
            perform(work, ended)
            return true
          },
          refuse: { fail(.tooManyReads) })
      }
    } catch {
      fail(RPCStatus(mapping: error))
    }
  }

  private func perform(
    _ work: @escaping @Sendable () async throws -> ByteBuffer,
    _ ended: @escaping @Sendable () -> Void = {}
  ) {
    let task = Task {
      do {
        try Task.checkCancellation()
        succeed(try await work())
      } catch {
        fail(RPCStatus(mapping: error))
      }
      ended()
    }
    // When nobody waits any more, what has not begun is not done. What a submission has handed
    // to the store by then is committed all the same.
    onCancel { task.cancel() }
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
