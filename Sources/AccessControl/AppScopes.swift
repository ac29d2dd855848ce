package import EntitlementDomain

/// The apps and environments that a caller may use.
package struct AppScopes: Hashable, Sendable {
  /// Nil: all, also those that the catalog will name later.
  package let apps: [BundleID: Set<StoreEnvironment>]?
  /// - Parameter apps: nil: all.
  package init(_ apps: [BundleID: Set<StoreEnvironment>]?) {
    self.apps = apps
  }

  package static let all = AppScopes(nil)

  package var isUnlimited: Bool { apps == nil }

  package func contains(_ scope: AppScope) -> Bool {
    apps.map { $0[scope.bundleID]?.contains(scope.environment) ?? false } ?? true
  }

  /// Whether any environment of the app is contained.
  package func contains(_ app: BundleID) -> Bool {
    apps.map { $0[app] != nil } ?? true
  }

  /// What both contain.
  package func intersection(_ other: AppScopes) -> AppScopes {
    guard let apps else { return other }
    guard let others = other.apps else { return self }
    return AppScopes(
      apps.reduce(into: [:]) { common, app in
        let environments = app.value.intersection(others[app.key] ?? [])
        if !environments.isEmpty { common[app.key] = environments }
      })
  }

  /// Whether everything in `other` is contained.
  package func contains(_ other: AppScopes) -> Bool {
    guard let apps else { return true }
    guard let others = other.apps else { return false }
    return others.allSatisfy { app, environments in
      apps[app].map { $0.isSuperset(of: environments) } ?? false
    }
  }
}
