import Framing
import LoadClient
import NIOCore
import NIOPosix
import RPCClient
import Wire

/// A caller during a load: one call every few milliseconds on its own connection, whether or not
/// earlier calls are answered. It records the latency at each moment.
final class LatencyProbe: Sendable {
  struct Call: Sendable {
    /// When the call was due.
    let start: NIODeadline
    let latency: TimeAmount
    let isAnswered: Bool
  }

  /// In a window of this length, the slowest call stands for the p99.
  static let window = TimeAmount.milliseconds(100)

  private let group: MultiThreadedEventLoopGroup
  private let connection: RPCConnection
  private let worker: NIOLoopBound<Worker>

  /// - Parameter request: the request of every call.
  init(_ request: RPCRequest, to address: ServerAddress) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    self.group = group
    let connection = try await RPCConnection.connect(to: address, eventLoopGroup: group)
    self.connection = connection
    worker = try await connection.eventLoop.submit {
      let worker = Worker(connection, request)
      worker.start()
      return NIOLoopBound(worker, eventLoop: connection.eventLoop)
    }.get()
  }

  /// All finished calls.
  func calls() async throws -> [Call] {
    try await connection.eventLoop.submit { [worker] in worker.value.calls }.get()
  }

  func stop() async throws {
    try await connection.eventLoop.submit { [worker] in worker.value.stop() }.get()
    await connection.close()
    try await group.shutdownGracefully()
  }

  /// Runs on one event loop.
  private final class Worker {
    private(set) var calls: [Call] = []
    private let connection: RPCConnection
    private let request: RPCRequest
    private var due = NIODeadline.now()
    private var next: Scheduled<Void>?

    private static let interval = TimeAmount.milliseconds(2)

    init(_ connection: RPCConnection, _ request: RPCRequest) {
      self.connection = connection
      self.request = request
    }

    func start() {
      let start = due
      connection.call(request) { result in
        self.calls.append(
          Call(
            start: start, latency: .now() - start,
            isAnswered: (try? result.get()) != nil))
      }
      due = due + Self.interval
      next = connection.eventLoop.assumeIsolated().scheduleTask(deadline: due) { self.start() }
    }

    func stop() { next?.cancel() }
  }
}

extension [LatencyProbe.Call] {
  /// The slowest call of each window, from a start to the last complete window. An unanswered call
  /// counts as slower than any other.
  func windows(from start: NIODeadline, to end: NIODeadline) -> [TimeAmount] {
    let length = LatencyProbe.window
    let count = Swift.max(0, Int((end - start).nanoseconds / length.nanoseconds))
    var slowest = [TimeAmount](repeating: .zero, count: count)
    for call in self where call.start >= start {
      let window = Int((call.start - start).nanoseconds / length.nanoseconds)
      guard window < count else { continue }
      let latency = call.isAnswered ? call.latency : .hours(1)
      slowest[window] = Swift.max(slowest[window], latency)
    }
    return slowest
  }
}
