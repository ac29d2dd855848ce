import AppStoreRecovery
import CertificateStatus
import DevelopmentClock
import EntitlementService
import EntitlementStore
import Logging
import RPCEndpoints
import RPCServer
import ServiceLifecycle
import Verification
import Wire

// The components of the server that need a graceful shutdown. Each service runs until the shutdown
// reaches it, and returns when its component has stopped.

/// The RPC server: stops accepting connections, refuses new calls, and finishes calls in flight.
struct RPCService: Service {
  let server: RPCServer
  /// What it listens on.
  let addresses: [String]
  let health: HealthStatus
  let logger: Logger

  func run() async throws {
    // Logged here, as signals are caught by now: a server that listens can be stopped.
    for address in addresses {
      logger.info("listening", metadata: ["address": "\(address)"])
    }
    try? await gracefulShutdown()
    health.set(isServing: false)
    await server.shutDown()
  }
}

/// The verification pool: finishes the payloads in work, and drops the rest.
struct VerificationPoolService: Service {
  let pool: VerificationPool

  /// The time for payloads in work. The RPC server has stopped, so no caller waits for them.
  private static let drainTime = Duration.seconds(1)

  func run() async throws {
    try? await gracefulShutdown()
    await pool.shutdown(deadline: .now + Self.drainTime)
  }
}

/// The certificate status checks: cancels requests in flight.
struct CertificateStatusService: Service {
  /// Nil if the status is not checked.
  let responder: HTTPStatusResponder?

  func run() async throws {
    try? await gracefulShutdown()
    await responder?.shutDown()
  }
}

/// The development clock: follows the simulator. It ends last, though time goes on without it.
struct DevelopmentClockService: Service {
  /// Nil if time is the system's.
  let clock: DevelopmentClock?

  func run() async throws {
    if let clock {
      await cancelWhenGracefulShutdown { await clock.follow() }
    } else {
      try? await gracefulShutdown()
    }
  }
}

/// The store: commits accepted writes, and closes.
struct StoreService: Service {
  let store: any EntitlementStore

  func run() async throws {
    try? await gracefulShutdown()
    await store.close()
  }
}

/// The recovery of what was missed: gives the jobs back that it was at.
struct RecoveryService: Service {
  /// Nil without a settings file: no key can come.
  let recovery: AppStoreRecovery?

  func run() async throws {
    guard let recovery else {
      try? await gracefulShutdown()
      return
    }
    await cancelWhenGracefulShutdown { await recovery.run() }
  }
}

/// The change feed and the audit trail: follows the writes of other nodes, deletes expired changes, and
/// seals.
struct ChangeFeedService: Service {
  let follower: ChangeFollower
  let trimmer: ChangeTrimmer
  let sealer: AuditSealer

  func run() async throws {
    await cancelWhenGracefulShutdown {
      await withDiscardingTaskGroup { group in
        group.addTask { await follower.run() }
        group.addTask { await trimmer.run() }
        group.addTask { await sealer.run() }
      }
    }
    // All calls are answered by now, and the store is still open.
    await sealer.seal()
  }
}

/// Checks the store periodically, and sets the health status. A probe of PostgreSQL takes at most
/// 1.5 s, so that the status follows the store within 4.1 s: a second until the probe begins, two
/// probes and the pause between them.
struct HealthMonitor: Service {
  let store: any EntitlementStore
  let health: HealthStatus
  let logger: Logger

  private static let interval = Duration.seconds(1)
  /// Before a probe that confirms another status.
  private static let pause = Duration.milliseconds(100)

  func run() async throws {
    await cancelWhenGracefulShutdown {
      var rule = HealthRule(isServing: health.isServing)
      while !Task.isCancelled {
        let mustConfirm = await check(&rule)
        try? await Task.sleep(for: mustConfirm ? Self.pause : Self.interval)
      }
    }
  }

  /// - Returns: whether the next probe must follow at once.
  private func check(_ rule: inout HealthRule) async -> Bool {
    var failure: StoreError?
    do throws(StoreError) {
      try await store.checkHealth()
    } catch {
      failure = error
    }
    if Task.isCancelled { return false }
    let mustConfirm = rule.observed(
      failure.map { $0.code == .corrupt ? .damaged : .failed } ?? .answered)
    if rule.isServing != health.isServing {
      if let failure {
        logger.error("the store is unavailable", metadata: ["reason": "\(failure)"])
      } else {
        logger.notice("the store is available again")
      }
      health.set(isServing: rule.isServing)
    }
    return mustConfirm
  }
}
