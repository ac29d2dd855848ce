import AccessControl
import Dispatch
package import Framing
package import NIOCore
import Synchronization
import Wire
package import Workers

/// The message of a call in another encoding than protobuf. A front sends it through the pipeline before
/// the call's frame, whose payload is then empty. It is converted when the call is admitted: its caller is
/// known, has the permission, and is within its limits. So a message that is refused is never converted.
package struct RequestConversion: Sendable {
  package typealias Convert = @Sendable (ByteBuffer) -> Result<ByteBuffer, RPCStatus>

  /// The message as it was received.
  package let message: ByteBuffer
  private let convert: Convert

  /// - Parameter convert: Returns the message in protobuf, or why the call fails. Runs on the
  ///   event loop or on a thread of ``RequestConverter``.
  package init(_ message: ByteBuffer, convert: @escaping Convert) {
    self.message = message
    self.convert = convert
  }

  /// A message that was not kept, as its caller was not known when it arrived. A call that is admitted all
  /// the same fails.
  ///
  /// - Parameter needsCaller: Whether the method needs a credential.
  package static func withheld(needsCaller: Bool) -> RequestConversion {
    let status = needsCaller ? RPCStatus(.missing) : .openRequestTooLong
    return RequestConversion(ByteBuffer()) { _ in .failure(status) }
  }

  /// The message in protobuf, or why the call fails.
  package func converted() -> Result<ByteBuffer, RPCStatus> { convert(message) }

  var length: Int { message.readableBytes }

  /// Whether it is converted on the event loop: a longer one could delay other connections.
  var isShort: Bool { length <= RPCLimits.convertedInPlace }

  /// What a long message costs its caller before it is converted, in the rate of its method: it is
  /// charged to the cost of the call.
  func cost(permission: Permission) -> CallCost {
    if isShort { return .none }
    let count = max(1, length / RPCLimits.convertedBytesPerToken)
    return switch permission {
    case .submit, .importArchives: .submissions(count)
    default: .reads(count)
    }
  }
}

/// Converts the messages of a server's calls: short ones where they are, long ones on threads of its own, in
/// the turn of their caller.
package final class RequestConverter: Sendable {
  private let workers: WorkerPool
  private let total = Atomic(0)

  package init() {
    workers = WorkerPool(
      label: "entitle.conversion", width: max(1, System.coreCount / 2),
      capacity: RPCLimits.convertedMessages, weightCapacity: RPCLimits.convertedBytes,
      turn: Turn(items: 1, time: RPCLimits.conversionTurn),
      // Event loops come first where there are fewer processors than threads that have work.
      quality: .background)
  }

  func convertInPlace(_ conversion: RequestConversion) -> Result<ByteBuffer, RPCStatus> {
    total.add(1, ordering: .relaxed)
    return conversion.converted()
  }

  /// - Parameter isCancelled: Whether nobody waits for the result any more. Called on any thread.
  func convert(
    _ conversion: RequestConversion, of source: WorkSource,
    isCancelled: @escaping @Sendable () -> Bool
  ) async -> Result<ByteBuffer, RPCStatus> {
    do throws(PoolError) {
      let results = try await workers.map(
        [conversion], of: source, weight: \.length, isCancelled: isCancelled
      ) { [self] in convertInPlace($0) }
      // One item has one result.
      return results[0]
    } catch {
      return .failure(RPCStatus(error))
    }
  }

  /// Ends the threads. The calls have ended by now.
  func shutDown() async { await workers.shutdown(deadline: .now) }

  /// Messages that were converted, also those that turned out to be invalid.
  package var conversions: Int { total.load(ordering: .relaxed) }

  /// The work of its threads.
  package var work: WorkerPool.Work { workers.statistics.interactive }
}

extension RPCStatus {
  fileprivate init(_ error: PoolError) {
    switch error {
    case .full:
      self.init(
        .resourceExhausted, "too many long requests wait to be converted",
        retryDelay: RPCLimits.callerRetryDelay)
    case .deadlineExceeded, .cancelled: self = ServerStreams.deadlineExceeded
    case .shutdown: self = ServerStreams.shuttingDown
    }
  }
}
