package import Wire

/// What a server has done since it started. Numbers of one connection arrive with its flushes.
package struct RPCServerStatistics: Hashable, Sendable {
  package var connectionsOpen = 0
  package var connectionsAccepted = 0
  /// Closed at once because the limit was reached or the server was stopping.
  package var connectionsRefused = 0
  /// Calls that are over, by how they ended; those cancelled by the client's going count as
  /// CANCELLED.
  package var calls = CallTally()
  /// Messages sent on streams.
  package var streamMessages = 0
  /// Frames that broke the protocol: too long, a malformed envelope, a wrong stream id or data
  /// where none belongs.
  package var brokenFrames = 0
  /// Connections closed for silence or for a frame that did not arrive in time.
  package var connectionsTimedOut = 0
  /// Connections that ended because their client broke the protocol.
  package var connectionsBroken = 0
  /// How often the next connection was not accepted at once, since too many had been short.
  package var acceptPauses = 0

  package init() {}

  /// Adds all that another has counted, and leaves nothing in it.
  mutating func take(_ other: inout RPCServerStatistics) {
    connectionsOpen += exchange(&other.connectionsOpen, with: 0)
    connectionsAccepted += exchange(&other.connectionsAccepted, with: 0)
    connectionsRefused += exchange(&other.connectionsRefused, with: 0)
    calls.take(&other.calls)
    streamMessages += exchange(&other.streamMessages, with: 0)
    brokenFrames += exchange(&other.brokenFrames, with: 0)
    connectionsTimedOut += exchange(&other.connectionsTimedOut, with: 0)
    connectionsBroken += exchange(&other.connectionsBroken, with: 0)
    acceptPauses += exchange(&other.acceptPauses, with: 0)
  }
}

/// Numbers of calls by how they ended.
package struct CallTally: Hashable, Sendable {
  /// Kept apart: counting a success costs an addition, not a look-up.
  private var succeeded = 0
  private var failed: [RPCCode: Int] = [:]

  package init() {}

  package subscript(code: RPCCode) -> Int {
    code == .ok ? succeeded : failed[code, default: 0]
  }

  package var total: Int {
    failed.values.reduce(succeeded, +)
  }

  mutating func count(_ code: RPCCode) {
    if code == .ok {
      succeeded += 1
    } else {
      failed[code, default: 0] += 1
    }
  }

  mutating func countSuccesses(_ count: Int) {
    succeeded += count
  }

  mutating func take(_ other: inout CallTally) {
    succeeded += exchange(&other.succeeded, with: 0)
    if !other.failed.isEmpty {
      failed.merge(exchange(&other.failed, with: [:]), uniquingKeysWith: +)
    }
  }
}
