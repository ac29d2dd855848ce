package import EntitlementDomain
import Synchronization
package import Verification

/// The catalog in force, and the verification policy that follows from it. Reading takes a lock
/// for the time of one copy.
package final class CatalogHolder: Sendable {
  package struct Snapshot: Sendable {
    package let catalog: Catalog
    package let policy: VerificationPolicy
    /// SHA-256 of the file, hexadecimal; empty for a catalog that came from none.
    package let digest: String
    /// What is doubtful about it.
    package let warnings: [CatalogIssue]
    /// Since when answers follow from this catalog. Those of before may follow from another one:
    /// their customers' revisions do not tell that they changed.
    package let inForceSince: Milliseconds

    fileprivate init(
      _ catalog: Catalog, digest: String, warnings: [CatalogIssue], inForceSince: Milliseconds
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
    var lastAttempt: CatalogAttempt?
    var drops: [@Sendable () -> any Sendable] = []
  }

  private let state: Mutex<State>
  private let clock: ServiceClock

  /// The catalog is in force from now on: with which one an earlier process answered is not known.
  ///
  /// - Parameters:
  ///   - digest: SHA-256 of its file, hexadecimal.
  ///   - warnings: what is doubtful about it.
  package init(
    _ catalog: Catalog, digest: String = "", warnings: [CatalogIssue] = [], clock: ServiceClock
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

  /// The catalog in force, and the last attempt to change it; nil when there was none.
  package var status: (snapshot: Snapshot, lastAttempt: CatalogAttempt?) {
    state.withLock { ($0.snapshot, $0.lastAttempt) }
  }

  /// Puts another catalog in force, and drops every answer that follows from the old one. Once this
  /// returns no new answer follows from the old catalog.
  ///
  /// - Parameter digest: SHA-256 of its file, hexadecimal.
  package func replace(
    with catalog: Catalog, digest: String = "", warnings: [CatalogIssue] = []
  ) {
    // What was held is freed outside the lock: it may be large.
    let dropped = state.withLock { state -> [any Sendable] in
      // Under the lock no load can take the old catalog after answers were dropped, and so none
      // from it is kept; and no answer from the new one is given before.
      let dropped = state.drops.map { $0() }
      // Later than the commits of this very millisecond, which the old catalog may have answered.
      let since = max(clock.now(), state.snapshot.inForceSince).advanced(by: 1)
      state.snapshot = Snapshot(
        catalog, digest: digest, warnings: warnings, inForceSince: since)
      return dropped
    }
    withExtendedLifetime(dropped) {}
  }

  /// Keeps what became of an attempt to change the catalog.
  func record(_ attempt: CatalogAttempt) {
    state.withLock { $0.lastAttempt = attempt }
  }

  /// Has `drop` called whenever another catalog comes in force, under the lock of this: it must
  /// forget all that follows from the old one, be quick, and not ask this for anything. What it
  /// returns is released later.
  func onReplacement(_ drop: @escaping @Sendable () -> any Sendable) {
    state.withLock { $0.drops.append(drop) }
  }
}

extension CatalogHolder.Snapshot {
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for an app or environment
  ///   that the catalog does not name: nothing can be known there, and an empty answer would tell a
  ///   misspelt caller that nobody has bought anything (R27).
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
  /// Accepts the apps of a catalog in the environments that it names.
  init(_ catalog: Catalog) {
    self.init(
      apps: catalog.apps.values.map { app in
        App(bundleID: app.bundleID, appAppleID: app.appAppleID, environments: app.environments)
      })
  }
}
