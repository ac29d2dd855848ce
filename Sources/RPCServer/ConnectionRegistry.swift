import Framing
import Logging
package import NIOCore
import Synchronization
import Wire
import Workers

/// The open connections of a server, up to a limit, and the sum of their counters.
final class ConnectionRegistry: Sendable {
  private struct State {
    var open: [UInt64: any Channel] = [:]
    var lastID: UInt64 = 0
    /// Set when the server shuts down. No connection is admitted afterwards.
    var shutdown: ShutdownStarted?
    var waiters: [CheckedContinuation<Void, Never>] = []
    var statistics = RPCServerStatistics()
  }

  let memory: MemoryBudget
  let unknownMemory: UnknownMemory
  let converter = RequestConverter()
  let faults: TransportFaults
  /// Those without a known caller, on a server with access control.
  let unknown = WaitingConnections()
  private let limit: Int
  /// Places that only connections of operators take: by Unix sockets, and probes.
  private let localPlaces: Int
  private let refusalLog = ShortageLog()
  private let memoryLog = ShortageLog()
  private let state = Mutex(State())

  init(limits: RPCLimits, logger: Logger) {
    faults = TransportFaults(logger: logger)
    limit = limits.connections
    localPlaces = min(RPCLimits.localConnections, limit / 10)
    memory = MemoryBudget(capacity: limits.memory)
    unknownMemory = UnknownMemory(capacity: limits.memory / RPCLimits.unknownMemoryPart)
  }

  /// Admits a new connection. If all places are taken, the oldest connection without a known caller
  /// gives its place.
  ///
  /// - Parameter isForOperators: Of the listener. Unix sockets are, too.
  /// - Returns: The connection's number, or nil if it must be closed immediately.
  func admit(_ channel: any Channel, isForOperators: Bool = false) -> UInt64? {
    let isLocal = if case .unixDomainSocket? = channel.localAddress { true } else { false }
    let places = isLocal || isForOperators ? limit : limit - localPlaces
    return state.withLock { state in
      guard state.shutdown == nil, state.open.count < places || evictUnknown() else {
        state.statistics.connectionsRefused += 1
        return nil
      }
      state.lastID += 1
      state.open[state.lastID] = channel
      state.statistics.connectionsAccepted += 1
      return state.lastID
    }
  }

  private func evictUnknown() -> Bool {
    guard let oldest = unknown.takeOldest() else { return false }
    // Not on this thread: the connection may be one of another event loop, and the lock is held.
    oldest.eventLoop.execute { oldest.pipeline.fireUserInboundEventTriggered(UnknownEvicted()) }
    return true
  }

  /// Removes a closed connection.
  func remove(_ id: UInt64) {
    let waiters = state.withLock { state in
      state.open[id] = nil
      guard state.open.isEmpty else {
        return [CheckedContinuation<Void, Never>]()
      }
      return exchange(&state.waiters, with: [])
    }
    for waiter in waiters {
      waiter.resume()
    }
  }

  func handshakeFinished() {
    state.withLock { $0.statistics.handshakesFinished += 1 }
  }

  /// Adds the counters of a connection and resets them.
  func take(
    _ statistics: inout RPCServerStatistics, _ calls: inout FinishedCalls, of front: CallFront
  ) {
    state.withLock { state in
      state.statistics.take(&statistics)
      state.statistics.calls.take(&calls, of: front)
    }
  }

  var statistics: RPCServerStatistics {
    state.withLock { state in
      var statistics = state.statistics
      statistics.connectionsOpen = state.open.count
      statistics.connectionsLimit = limit
      statistics.memoryInUse = memory.bytesInUse
      statistics.memoryLimit = memory.capacity
      statistics.unknownMemoryInUse = unknownMemory.bytesInUse
      statistics.unknownMemoryLimit = unknownMemory.capacity
      statistics.conversions = converter.conversions
      statistics.conversionsWaiting = converter.work.queued
      statistics.conversionsRefused = converter.work.turnedAway
      return statistics
    }
  }

  /// Logs that connections are refused because of the limit.
  func logRefusal(to logger: Logger) {
    guard refusalLog.isDue(now: .now()) else {
      return
    }
    let statistics = statistics
    logger.warning(
      "connections are refused: the limit of open connections is reached",
      metadata: [
        "limit": .stringConvertible(limit),
        "refused": .stringConvertible(statistics.connectionsRefused),
      ])
  }

  /// Logs that calls are refused or connections closed because the memory is in use.
  func logMemoryShortage(to logger: Logger) {
    guard memoryLog.isDue(now: .now()) else {
      return
    }
    let statistics = statistics
    logger.warning(
      "the memory for calls is in use",
      metadata: [
        "bytes": .stringConvertible(statistics.memoryInUse),
        "refused": .stringConvertible(statistics.memoryRefusals),
        "dropped_requests": .stringConvertible(statistics.droppedRequests),
        "closed_connections": .stringConvertible(statistics.connectionsClosedForMemory),
      ])
  }

  /// Admits no more connections, and starts the shutdown of every open one.
  func shutDown(_ event: ShutdownStarted) {
    let channels = state.withLock { state in
      state.shutdown = event
      return Array(state.open.values)
    }
    for channel in channels {
      channel.pipeline.fireUserInboundEventTriggered(event)
    }
  }

  /// Lets every connection look up its callers again.
  func credentialsReplaced() {
    let channels = state.withLock { Array($0.open.values) }
    for channel in channels {
      channel.pipeline.fireUserInboundEventTriggered(CredentialsReplaced())
    }
  }

  /// Returns when no connection is open. Connections close within the limits' timeouts.
  func allClosed() async {
    await withCheckedContinuation { continuation in
      let isEmpty = state.withLock { state in
        if !state.open.isEmpty {
          state.waiters.append(continuation)
        }
        return state.open.isEmpty
      }
      if isEmpty {
        continuation.resume()
      }
    }
  }
}

/// Limits the lines of the log about a shortage, which clients can cause at will.
package final class ShortageLog: Sendable {
  private let next = Mutex(NIODeadline.distantPast)

  package init() {}

  /// Whether a line may be logged now. If so, the next one may be logged
  /// ``RPCLimits/shortageLogTime`` later.
  package func isDue(now: NIODeadline) -> Bool {
    next.withLock { next in
      guard now >= next else {
        return false
      }
      next = now + TimeAmount(RPCLimits.shortageLogTime)
      return true
    }
  }
}

/// The event sent through each connection's pipeline when the server shuts down.
package struct ShutdownStarted: Sendable {
  /// When calls in flight are ended.
  let deadline: NIODeadline
}
