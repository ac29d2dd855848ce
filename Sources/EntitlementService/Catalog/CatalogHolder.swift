package import EntitlementDomain
import Synchronization
package import Verification

/// The catalog in force and the verification policy that is derived from it. A read takes a lock
/// for one copy.
package final class CatalogHolder: Sendable {
  package struct Snapshot: Sendable {
    package let catalog: Catalog
    package let policy: VerificationPolicy
    /// SHA-256 of the file, hexadecimal; empty for a catalog without a file.
    package let digest: String
    package let warnings: [FileIssue]
    /// The time from which answers are computed from this catalog. A new catalog changes answers
    /// without a new revision of their customers, so the revision alone does not identify an
    /// answer.
    package let inForceSince: Milliseconds

    fileprivate init(
      _ catalog: Catalog, digest: String, warnings: [FileIssue], inForceSince: Milliseconds
    ) {
      self.catalog = catalog
      policy = VerificationPolicy(catalog)
      self.digest = digest
      self.warnings = warnings
      self.inForceSince = inForceSince
    }
  }

  private struct State {
    var snapshot: Snapshot
    var lastAttempt: CatalogReloadAttempt?
    var drops: [@Sendable () -> any Sendable] = []
  }

  private let state: Mutex<State>
  private let clock: ServiceClock

  /// The catalog is in force from now on. The catalog of an earlier process is not known.
  ///
  /// - Parameter digest: SHA-256 of the catalog's file, hexadecimal.
  package init(
    _ catalog: Catalog, digest: String = "", warnings: [FileIssue] = [], clock: ServiceClock
  ) {
    self.clock = clock
    state = Mutex(
      State(
        snapshot: Snapshot(
          catalog, digest: digest, warnings: warnings, inForceSince: clock.now())))
  }

  package var snapshot: Snapshot {
    state.withLock { $0.snapshot }
  }

  /// The catalog in force, and the last attempt to replace it; nil before the first attempt.
  package var status: (snapshot: Snapshot, lastAttempt: CatalogReloadAttempt?) {
    state.withLock { ($0.snapshot, $0.lastAttempt) }
  }

  /// Puts another catalog in force and invalidates every cached answer. After the call no new
  /// answer is computed from the old catalog.
  ///
  /// - Parameter digest: SHA-256 of the catalog's file, hexadecimal.
  package func replace(
    with catalog: Catalog, digest: String = "", warnings: [FileIssue] = []
  ) {
    // The dropped values may be large, so they are freed outside the lock.
    let dropped = state.withLock { state -> [any Sendable] in
      // The lock orders invalidation and replacement. No load takes the old catalog after the
      // invalidation, and no answer of the new catalog is returned before it.
      let dropped = state.drops.map { $0() }
      // One millisecond later, as the old catalog may have answered in the current millisecond.
      let since = max(clock.now(), state.snapshot.inForceSince).advanced(by: 1)
      state.snapshot = Snapshot(
        catalog, digest: digest, warnings: warnings, inForceSince: since)
      return dropped
    }
    withExtendedLifetime(dropped) {}
  }

  /// Stores the outcome of an attempt to replace the catalog.
  func record(_ attempt: CatalogReloadAttempt) {
    state.withLock { $0.lastAttempt = attempt }
  }

  /// Registers a callback that invalidates everything that was computed from the old catalog. It
  /// runs under the lock at each replacement, so it must be quick and must not call this object.
  /// Its result is released outside the lock.
  func onReplacement(_ drop: @escaping @Sendable () -> any Sendable) {
    state.withLock { $0.drops.append(drop) }
  }
}

extension CatalogHolder {
  package var values: [StatisticValue] {
    let (snapshot, attempt) = status
    return [
      StatisticValue("catalog.in_force_since_seconds", snapshot.inForceSince.rawValue / 1_000),
      // The file that was read at the start was valid.
      StatisticValue("catalog.last_reload_valid", attempt?.isValid ?? true ? 1 : 0),
      StatisticValue(
        "catalog.last_reload_seconds", (attempt?.at ?? snapshot.inForceSince).rawValue / 1_000),
    ]
  }
}

extension CatalogHolder.Snapshot {
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for an app or environment
  ///   that the catalog does not name. An empty answer would hide a misspelt bundle id (R27).
  func checkServed(_ scope: AppScope) throws(ServiceError) {
    guard try app(scope.bundleID).environments.contains(scope.environment) else {
      throw ServiceError(
        .invalidArgument(field: "environment"),
        "the catalog does not accept this environment of the app")
    }
  }

  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for an app that the catalog
  ///   does not name.
  func app(_ bundleID: BundleID) throws(ServiceError) -> CatalogApp {
    guard let app = catalog.apps[bundleID] else {
      throw ServiceError(
        .invalidArgument(field: "bundle_id"), "the catalog names no app with this bundle id")
    }
    return app
  }
}

extension VerificationPolicy {
  /// Accepts the apps of a catalog in the environments that the catalog names for each.
  init(_ catalog: Catalog) {
    self.init(
      apps: catalog.apps.values.map { app in
        App(bundleID: app.bundleID, appAppleID: app.appAppleID, environments: app.environments)
      })
  }
}
