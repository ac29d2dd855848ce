package import EntitlementDomain

/// What a caller may do, in a form of one connection. Calls that are answered in place look at it for
/// each call: a `Caller` is shared by all event loops, and counting references to it would make them
/// wait for each other.
package final class ConnectionScope: Sendable {
  private struct App: Sendable {
    /// Where its bundle id is in ``names``.
    let name: Range<Int>
    let environments: [StoreEnvironment]
  }

  package let permissions: PermissionSet
  private let isUnlimited: Bool
  private let names: [UInt8]
  private let apps: [App]

  package init(_ permissions: PermissionSet, _ scopes: AppScopes) {
    self.permissions = permissions
    isUnlimited = scopes.isUnlimited
    var names: [UInt8] = []
    apps = (scopes.apps ?? [:]).map { id, environments in
      let start = names.count
      names += id.rawValue.utf8
      return App(name: start..<names.count, environments: Array(environments))
    }
    self.names = names
  }

  package convenience init(_ caller: Caller) {
    self.init(caller.permissions, caller.scopes)
  }

  /// Whether the caller may use an app and environment.
  package func contains(
    bundleID: UnsafeRawBufferPointer, environment: StoreEnvironment
  ) -> Bool {
    if isUnlimited { return true }
    return names.withUnsafeBytes { names in
      apps.contains { app in
        app.name.count == bundleID.count && names[app.name].elementsEqual(bundleID)
          && app.environments.contains(environment)
      }
    }
  }
}
