import CertificateStatus
import EntitlementStore
import Logging
import RPCEndpoints
import RPCServer
import ServiceLifecycle
import Verification
import Wire

// Each part of the server that needs an orderly end, as a service: it runs until the shutdown
// reaches it, and returns when the part has ended.

/// The front: stops accepting, finishes the calls in flight, refuses new ones.
struct FrontLife: Service {
  let server: RPCServer
  let addresses: [ServerAddress]
  let health: HealthBoard
  let logger: Logger

  func run() async throws {
    // Not before: the signals that stop the server are caught by now.
    for address in addresses {
      logger.info("listening", metadata: ["address": "\(address)"])
    }
    try? await gracefulShutdown()
    health.set(isServing: false)
    await server.shutDown()
  }
}

/// The verification workers: finish what somebody still waits for, and drop the rest.
struct PoolLife: Service {
  let pool: VerificationPool

  /// The front is closed by now, so that nobody waits for what is left: time for the payloads under
  /// way.
  private static let drainTime = Duration.seconds(1)

  func run() async throws {
    try? await gracefulShutdown()
    await pool.shutdown(deadline: .now + Self.drainTime)
  }
}

/// The questions for the status of certificates: those under way end without an answer.
struct CertificateStatusLife: Service {
  /// Nil when nobody is asked.
  let responder: HTTPStatusResponder?

  func run() async throws {
    try? await gracefulShutdown()
    await responder?.shutDown()
  }
}

/// The store: commits what was handed to it, and closes.
struct StoreLife: Service {
  let store: any EntitlementStore

  func run() async throws {
    try? await gracefulShutdown()
    await store.close()
  }
}

/// Asks the store from time to time whether it can answer, and has the health service say so.
struct HealthMonitor: Service {
  let store: any EntitlementStore
  let board: HealthBoard
  let logger: Logger

  /// Short against the time in which callers and load balancers act on it.
  private static let interval = Duration.seconds(5)

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        await check()
        try? await Task.sleep(for: Self.interval)
      }
    }
  }

  private func check() async {
    do {
      try await store.checkHealth()
      if !board.isServing {
        logger.notice("the store answers again")
        board.set(isServing: true)
      }
    } catch {
      if board.isServing { logger.error("the store fails", metadata: ["reason": "\(error)"]) }
      board.set(isServing: false)
    }
  }
}
