import NIOCore
import Synchronization
import Wire

/// The open connections of a server, their number limited, and what they have counted.
final class ConnectionRegistry: Sendable {
  private struct State {
    var open: [UInt64: any Channel] = [:]
    var lastID: UInt64 = 0
    /// Set once the server stops; from then on no connection is admitted.
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
  /// - Returns: Its number, or nil when it must be closed at once.
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
      return Array(state.open.values)
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
