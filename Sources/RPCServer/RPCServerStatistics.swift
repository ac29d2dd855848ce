import Wire

/// Counters of a server since its start. A connection adds its counters when it flushes.
package struct RPCServerStatistics: Hashable, Sendable {
  package var connectionsOpen = 0
  package var connectionsLimit = 0
  package var connectionsAccepted = 0
  /// Closed immediately because of the connection limit or a shutdown.
  package var connectionsRefused = 0
  /// Finished calls. By front. Those of a client that disconnected count as CANCELLED. Those of a connection are
  /// in its ``FinishedCalls`` until it flushes.
  package internal(set) var calls = CallCountsOfFronts()
  /// Messages sent on streams.
  package var streamMessages = 0
  /// Frames that broke the protocol: too long, a malformed envelope, an invalid stream id or
  /// unexpected data.
  package var brokenFrames = 0
  /// Connections closed because they were idle or a frame did not arrive in time.
  package var connectionsTimedOut = 0
  /// Connections closed because the client broke the protocol.
  package var connectionsBroken = 0
  /// How often an accept was delayed because of short-lived connections.
  package var acceptPauses = 0

  /// How often no connection could be accepted for lack of a file descriptor.
  package var acceptFailures = 0
  /// Bytes of incomplete requests, calls in flight and unread output now.
  package var memoryInUse = 0
  package var memoryLimit = 0
  /// Bytes of incomplete requests on connections that no known caller has used.
  package var unknownMemoryInUse = 0
  package var unknownMemoryLimit = 0
  /// Calls and answers refused because the connection had its share of the memory.
  package var memoryRefusals = 0
  /// Incomplete requests given up so that others get memory.
  package var droppedRequests = 0
  /// Connections closed because of unread output, or of an incomplete request without a known caller, so
  /// that others get memory.
  package var connectionsClosedForMemory = 0
  /// Requests converted from JSON, also those that were invalid.
  package var conversions = 0
  /// Long ones that wait for their turn now.
  package var conversionsWaiting = 0
  package var conversionsRefused = 0

  /// TLS handshakes that are not finished now.
  package var handshakesOpen = 0
  package var handshakesFinished = 0
  package var handshakesFailed = 0

  package init() {}

  /// Adds the counters of `other` and resets them.
  mutating func take(_ other: inout RPCServerStatistics) {
    connectionsOpen += exchange(&other.connectionsOpen, with: 0)
    connectionsAccepted += exchange(&other.connectionsAccepted, with: 0)
    connectionsRefused += exchange(&other.connectionsRefused, with: 0)
    streamMessages += exchange(&other.streamMessages, with: 0)
    brokenFrames += exchange(&other.brokenFrames, with: 0)
    connectionsTimedOut += exchange(&other.connectionsTimedOut, with: 0)
    connectionsBroken += exchange(&other.connectionsBroken, with: 0)
    acceptPauses += exchange(&other.acceptPauses, with: 0)
    acceptFailures += exchange(&other.acceptFailures, with: 0)
    memoryInUse += exchange(&other.memoryInUse, with: 0)
    memoryRefusals += exchange(&other.memoryRefusals, with: 0)
    droppedRequests += exchange(&other.droppedRequests, with: 0)
    connectionsClosedForMemory += exchange(&other.connectionsClosedForMemory, with: 0)
    handshakesOpen += exchange(&other.handshakesOpen, with: 0)
    handshakesFinished += exchange(&other.handshakesFinished, with: 0)
    handshakesFailed += exchange(&other.handshakesFailed, with: 0)
  }
}
