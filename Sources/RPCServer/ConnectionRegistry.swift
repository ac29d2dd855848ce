import Framing
import NIOCore
import Synchronization
import Wire

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

  private let limit: Int
  private let state = Mutex(State())

  init(limits: RPCLimits) {
    limit = limits.connections
  }

  /// Admits a new connection.
  ///
  /// - Returns: The connection's number, or nil if it must be closed immediately.
  func admit(_ channel: any Channel) -> UInt64? {
    state.withLock { state in
      guard state.shutdown == nil, state.open.count < limit else {
        state.statistics.connectionsRefused += 1
        return nil
      }
      state.lastID += 1
      state.open[state.lastID] = channel
      state.statistics.connectionsAccepted += 1
      return state.lastID
    }
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

  /// Adds the counters of a connection and resets them.
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

/// The event sent through each connection's pipeline when the server shuts down.
struct ShutdownStarted: Sendable {
  /// When calls in flight are ended.
  let deadline: NIODeadline
}
