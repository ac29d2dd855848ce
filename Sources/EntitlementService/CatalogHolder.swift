package import EntitlementDomain
import Synchronization
package import Verification

/// The catalog in force, and the verification policy that follows from it. Reading takes a lock
/// for the time of one copy.
package final class CatalogHolder: Sendable {
  package struct Snapshot: Sendable {
    package let catalog: Catalog
    package let policy: VerificationPolicy
    /// Since when answers follow from this catalog. Those of before may follow from another one:
    /// their customers' revisions do not tell that they changed.
    package let inForceSince: Milliseconds
  }

  private let current: Mutex<Snapshot>

  /// The catalog is in force from now on: with which one an earlier process answered is not known.
  package init(_ catalog: Catalog, clock: ServiceClock) {
    current = Mutex(
      Snapshot(
        catalog: catalog, policy: VerificationPolicy(catalog), inForceSince: clock.now()))
  }

  package var snapshot: Snapshot {
    current.withLock { $0 }
  }
}

extension VerificationPolicy {
  /// Accepts the apps of a catalog in the environments that it names.
  init(_ catalog: Catalog) {
    self.init(
      apps: catalog.apps.values.map { app in
        App(bundleID: app.bundleID, appAppleID: app.appAppleID, environments: app.environments)
      })
  }
}
