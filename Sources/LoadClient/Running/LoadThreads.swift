import NIOCore
import NIOPosix
import RPCClient
import Wire

/// The threads of a run, with their connections.
struct LoadThreads {
  private typealias Worker = NIOLoopBound<LoadWorker>

  private let workers: [Worker]
  private let eventLoops: [any EventLoop]

  /// Maximum number of connections that are opened concurrently.
  private static let maximumConnects = 64

  /// Opens the connections.
  ///
  /// - Throws: ``RPCClientError`` with `unreachable`.
  init(_ plan: RunPlan, to target: RPCTarget, on group: MultiThreadedEventLoopGroup)
    async throws
  {
    let eventLoops = Array(group.makeIterator().prefix(plan.threads))
    let clock = WallClock()
    var workers: [Worker] = []
    for (thread, eventLoop) in eventLoops.enumerated() {
      let connections = try await Self.connections(
        plan.part(of: plan.connections, ofThread: thread), to: target, on: eventLoop)
      workers.append(
        try await eventLoop.submit {
          NIOLoopBound(
            LoadWorker(
              plan, thread: thread, on: eventLoop, connections, to: target, clock: clock),
            eventLoop: eventLoop)
        }.get())
    }
    self.eventLoops = eventLoops
    self.workers = workers
  }

  /// - Throws: ``RPCClientError`` with `unreachable`, when a connection cannot be opened.
  static func connections(
    _ count: Int, to target: RPCTarget, on group: any EventLoopGroup
  ) async throws -> [RPCConnection] {
    try await withThrowingTaskGroup(of: RPCConnection.self) { tasks in
      var connections: [RPCConnection] = []
      for number in 0..<count {
        if number >= maximumConnects, let connection = try await tasks.next() {
          connections.append(connection)
        }
        tasks.addTask { try await RPCConnection.connect(to: target, eventLoopGroup: group) }
      }
      for try await connection in tasks { connections.append(connection) }
      return connections
    }
  }

  /// Makes the calls, and returns after the last one has ended. Comparisons of answers may still be
  /// queued.
  ///
  /// - Throws: ``SimulatorError`` when a payload could not be signed.
  func run(_ times: RunTimes) async throws -> LoadEnd {
    let ends = zip(workers, eventLoops).map { worker, eventLoop in
      eventLoop.flatSubmit { worker.value.start(times) }
    }
    let nothing = LoadEnd(moment: times.start, isServerGone: false)
    return try await EventLoopFuture.whenAllSucceed(ends, on: eventLoops[0]).get()
      .reduce(nothing) { $0.joined(with: $1) }
  }

  /// Waits until all answers are compared.
  func drain() async throws {
    for (worker, eventLoop) in zip(workers, eventLoops) {
      await (try await eventLoop.submit { worker.value.verifier }.get()).drain()
    }
  }

  /// Plans no further calls, and makes no late ones.
  func interrupt() {
    for (worker, eventLoop) in zip(workers, eventLoops) {
      eventLoop.execute { worker.value.interrupt() }
    }
  }

  /// Returns the counts since the last call, and the number of calls in flight. Resets the counts.
  func take() async throws -> (tally: Tally, inFlight: Int) {
    var sum = Tally()
    var inFlight = 0
    for (worker, eventLoop) in zip(workers, eventLoops) {
      let part = try await eventLoop.submit { worker.value.take() }.get()
      sum.add(part.tally)
      inFlight += part.inFlight
    }
    return (sum, inFlight)
  }

  /// Closes the connections, and stops the signing and comparing threads.
  func close() async {
    for (worker, eventLoop) in zip(workers, eventLoops) {
      let parts = try? await eventLoop.submit {
        (worker.value.close(), worker.value.signedCalls, worker.value.verifier)
      }.get()
      // An event loop that is shut down runs no tasks.
      guard let (connections, signedCalls, verifier) = parts else { continue }
      for connection in connections { await connection.close() }
      for calls in signedCalls { await calls.stop() }
      await verifier.drain()
    }
  }
}
