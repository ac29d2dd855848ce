import EntitlementDomain
package import EntitlementStore
package import Logging
import Synchronization

/// Seals the audit trail, and removes entries that are too old (R78).
package final class AuditSealer: Sendable {
  /// How much of the trail can be cut off unnoticed without a noted head. A seal costs a node that
  /// has the lease one transaction, and only after an audited call.
  private static let interval: Duration = .seconds(60)

  private let store: any EntitlementStore
  private let days: Int?
  private let clock: ServiceClock
  private let timer: ServiceTimer
  private let logger: Logger
  private let seals = Atomic<Int64>(0)

  /// - Parameter days: how long entries are kept; nil: for ever.
  package init(
    store: any EntitlementStore, keepingDays days: Int?, clock: ServiceClock,
    timer: ServiceTimer = .system, logger: Logger
  ) {
    self.store = store
    self.days = days
    self.clock = clock
    self.timer = timer
    self.logger = logger
  }

  package var values: [StatisticValue] {
    [StatisticValue("audit.seals", seals.load(ordering: .relaxed))]
  }

  /// Seals every ``interval`` until the task is cancelled. Call it once.
  package func run() async {
    while (try? await timer.sleep(Self.interval)) != nil { await seal() }
  }

  /// Seals once. Called too when the server stops, so that its last entries are sealed.
  package func seal() async {
    do {
      guard let seal = try await store.sealAudit(keepingDays: days, now: clock.now()) else {
        return
      }
      seals.add(1, ordering: .relaxed)
      // The log is often kept elsewhere: a head that `entitlectl audit verify --head` accepts.
      logger.info(
        "sealed the audit trail",
        metadata: ["seal": .stringConvertible(seal.number), "head": "\(seal.hash)"])
    } catch {
      logger.warning("the audit trail cannot be sealed", metadata: ["reason": "\(error)"])
    }
  }
}
