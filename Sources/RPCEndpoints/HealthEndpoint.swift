package import EntitlementDomain
import Framing
import NIOCore
package import RPCServer
import Synchronization
import Wire

/// `grpc.health.v1.Health`, answered on the event loop.
package struct HealthEndpoint: Sendable {
  private let health: HealthStatus
  private let version: String
  private let needsCredentials: Bool
  private let developmentClock: (@Sendable () -> Milliseconds)?

  /// - Parameters:
  ///   - version: The server's version, which each answer contains.
  ///   - needsCredentials: Whether there is access control, which each answer says too.
  ///   - developmentClock: The time that the server decides by, which each answer contains; nil if
  ///     it is the system's.
  package init(
    health: HealthStatus, version: String, needsCredentials: Bool,
    developmentClock: (@Sendable () -> Milliseconds)? = nil
  ) {
    self.health = health
    self.version = version
    self.needsCredentials = needsCredentials
    self.developmentClock = developmentClock
  }

  package func register(in router: inout RPCRouter) {
    router.unary(WireMethods.checkHealth, check)
    router.serverStreaming(WireMethods.watchHealth, watch)
  }

  /// The empty name stands for the server as a whole.
  private static let knownServices: Set<String> = [
    "", ServiceNames.health, ServiceNames.entitlements, ServiceNames.links,
    ServiceNames.submissions, ServiceNames.admin, ServiceNames.audit, ServiceNames.access,
  ]

  @Sendable
  private func check(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, HealthCheckRequest.self) { request in
      guard Self.knownServices.contains(request.service) else {
        throw RPCStatus(.notFound, "no service has this name here")
      }
      return .now(try response(health.isServing ? .serving : .notServing))
    }
  }

  /// Sends the current status and every change. For an unknown service, the health protocol
  /// requires SERVICE_UNKNOWN and an open stream.
  @Sendable
  private func watch(_ call: RPCCall, _ stream: RPCServerStream) {
    do {
      let request = try call.authorizedRequest(HealthCheckRequest.self)
      guard Self.knownServices.contains(request.service) else {
        stream.send(try response(.serviceUnknown))
        return
      }
      let eventLoop = call.eventLoop
      let watcher = health.watch { isServing in
        guard let payload = try? response(isServing ? .serving : .notServing) else { return }
        // Deferred: sending may detect a closed connection, which would end this watch under the lock.
        eventLoop.execute { stream.send(payload) }
      }
      stream.onCancel { health.endWatch(watcher) }
    } catch {
      stream.fail(RPCStatus(mapping: error))
    }
  }

  private func response(
    _ status: HealthCheckResponse.ServingStatus
  ) throws(MessageError) -> ByteBuffer {
    try HealthCheckResponse(
      status: status, version: version, needsCredentials: needsCredentials,
      developmentClock: developmentClock?()
    ).encoded()
  }
}

/// Decides the health status by probes of the store. Two probes in a row must agree on a change, so
/// that one slow answer does not move clients to another node. Damaged data needs no second probe.
package struct HealthRule: Sendable {
  package enum Outcome: Sendable {
    case answered, failed, damaged
  }

  package private(set) var isServing: Bool
  /// The last probe disagreed with the status.
  private var isDoubted = false

  package init(isServing: Bool) {
    self.isServing = isServing
  }

  /// - Returns: whether the next probe must follow at once, as it decides.
  package mutating func observed(_ outcome: Outcome) -> Bool {
    let seemsServing = outcome == .answered
    if seemsServing == isServing {
      isDoubted = false
    } else if isDoubted || outcome == .damaged {
      isServing = seemsServing
      isDoubted = false
    } else {
      isDoubted = true
    }
    return isDoubted
  }
}

/// The health status of the server, and the watchers of its changes.
package final class HealthStatus: Sendable {
  package struct WatchID: Hashable, Sendable {
    fileprivate let number: UInt64
  }

  private struct State {
    var isServing = false
    var watchers: [WatchID: @Sendable (Bool) -> Void] = [:]
    var count: UInt64 = 0
  }

  private let state = Mutex(State())

  package init() {}

  package var isServing: Bool {
    state.withLock { $0.isServing }
  }

  /// Sets the status, and calls every watcher if it changed.
  package func set(isServing: Bool) {
    // Called under the lock, so that every watcher gets changes in order.
    state.withLock { state in
      guard state.isServing != isServing else { return }
      state.isServing = isServing
      for watcher in state.watchers.values { watcher(isServing) }
    }
  }

  /// Calls `changed` with the current status immediately, and with each later status until the
  /// watch ends. `changed` runs under the lock: it must not block, and must not end a
  /// watch.
  package func watch(_ changed: @escaping @Sendable (Bool) -> Void) -> WatchID {
    state.withLock { state in
      state.count += 1
      let id = WatchID(number: state.count)
      state.watchers[id] = changed
      changed(state.isServing)
      return id
    }
  }

  /// Ends a watch. No effect if it has ended.
  package func endWatch(_ id: WatchID) {
    state.withLock { $0.watchers[id] = nil }
  }
}
