import NIOCore
import Synchronization
import Wire

/// The open connections of a server, their number limited, and what they have counted.
final class ConnectionRegistry: Sendable {
  private struct Connection {
    let channel: any Channel
    let since: NIODeadline
    let isPaced: Bool
    var isPenalized = false
  }

  private struct State {
    var open: [UInt64: Connection] = [:]
    var pace: AcceptPace
    /// Those of the open ones that are closed late, the one that waits longest first.
    var penalized: CircularBuffer<UInt64> = []
    var lastID: UInt64 = 0
    /// Set once the server stops; from then on nothing is admitted.
    var shutdown: ShutdownStarted?
    var waiters: [CheckedContinuation<Void, Never>] = []
    var statistics = RPCServerStatistics()

    /// The one that is closed late and has waited longest, if there is one: it is to be closed now.
    mutating func endPenalty() -> (any Channel)? {
      guard let id = penalized.popFirst() else { return nil }
      open[id]?.isPenalized = false
      return open[id]?.channel
    }
  }

  private let limit: Int
  private let penalizedLimit: Int
  private let state: Mutex<State>

  init(limits: RPCLimits) {
    limit = limits.connections
    // The one that has just broken the protocol is still to be told.
    penalizedLimit = max(1, limits.penalizedConnections)
    state = Mutex(
      State(
        pace: AcceptPace(
          rate: limits.shortConnectionsPerSecond, burst: limits.shortConnections)))
  }

  /// Admits a new connection. When all places are taken, one that is closed late makes room.
  ///
  /// - Parameter isPaced: Whether it counts when it lasts for a moment only.
  /// - Returns: Its number, or nil when it must be closed at once.
  func admit(_ channel: any Channel, isPaced: Bool, now: NIODeadline) -> UInt64? {
    let (id, replaced) = state.withLock { state -> (UInt64?, (any Channel)?) in
      let isFull = state.open.count >= limit
      let replaced = isFull ? state.endPenalty() : nil
      guard state.shutdown == nil, !isFull || replaced != nil else {
        state.statistics.connectionsRefused += 1
        if isPaced { state.pace.spent(now: now) }
        return (nil, nil)
      }
      state.lastID += 1
      state.open[state.lastID] = Connection(
        channel: channel, since: now, isPaced: isPaced)
      state.statistics.connectionsAccepted += 1
      return (state.lastID, replaced)
    }
    replaced?.close(promise: nil)
    return id
  }

  /// A connection has broken the protocol, and is to be closed late. Beyond the limit of such, the one
  /// that has waited longest is closed at once.
  func penalize(_ id: UInt64) {
    let replaced = state.withLock { state -> (any Channel)? in
      state.statistics.connectionsPenalized += 1
      state.penalized.append(id)
      state.open[id]?.isPenalized = true
      return state.penalized.count > penalizedLimit ? state.endPenalty() : nil
    }
    replaced?.close(promise: nil)
  }

  /// When the next connection may be accepted; nil: now.
  func acceptPause(now: NIODeadline) -> NIODeadline? {
    state.withLock { state in
      let pause = state.pace.pause(now: now)
      if pause != nil { state.statistics.acceptPauses += 1 }
      return pause
    }
  }

  func remove(_ id: UInt64, now: NIODeadline) {
    let waiters = state.withLock { state in
      let connection = state.open.removeValue(forKey: id)
      if let connection, connection.isPaced,
        now - connection.since < TimeAmount(RPCLimits.shortConnectionTime)
      {
        state.pace.spent(now: now)
      }
      // Mostly the first, as all wait for the same time.
      if connection?.isPenalized == true, let index = state.penalized.firstIndex(of: id) {
        state.penalized.remove(at: index)
      }
      guard state.open.isEmpty else {
        return [CheckedContinuation<Void, Never>]()
      }
      return exchange(&state.waiters, with: [])
    }
    for waiter in waiters {
      waiter.resume()
    }
  }

  /// Adds what a connection has counted, which counts from nothing again.
  func take(_ statistics: inout RPCServerStatistics) {
    state.withLock { $0.statistics.take(&statistics) }
  }

  var statistics: RPCServerStatistics {
    state.withLock { state in
      var statistics = state.statistics
      statistics.connectionsOpen = state.open.count
      return statistics
    }
  }

  /// Admits no more, and tells every connection to finish.
  func shutDown(_ event: ShutdownStarted) {
    let channels = state.withLock { state in
      state.shutdown = event
      return state.open.values.map(\.channel)
    }
    for channel in channels {
      channel.pipeline.fireUserInboundEventTriggered(event)
    }
  }

  /// Returns when no connection is open. Each closes itself within the limits.
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

/// Sent through a connection's pipeline when the server stops.
struct ShutdownStarted: Sendable {
  /// When calls in flight are given up.
  let deadline: NIODeadline
}
