import AccessControl
import Cryptography
import EntitlementDomain
package import EntitlementService
package import RPCServer
import Wire

/// `entitle.v1.AccessService`: callers about themselves, and the credentials in force.
package struct AccessEndpoint: Sendable {
  private let catalog: CatalogHolder
  /// Nil: no access control.
  private let reloader: CredentialsReloader?

  package init(catalog: CatalogHolder, reloader: CredentialsReloader?) {
    self.catalog = catalog
    self.reloader = reloader
  }

  package func register(in router: inout RPCRouter) {
    router.unary(WireMethods.whoAmI, whoAmI)
    router.unary(WireMethods.getCredentials, getCredentials)
    router.unary(WireMethods.reloadCredentials, reloadCredentials)
  }

  @Sendable
  private func whoAmI(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, WhoAmIRequest.self) { _ in
      let identity = call.identity
      let caller = identity.caller
      return .now(
        try WhoAmIResponse(
          name: caller.name, proof: identity.kind, tokenID: identity.tokenID,
          tokenExpires: identity.expires, roles: caller.roles.map(\.rawValue),
          permissions: caller.permissions.permissions, hasAllApps: caller.scopes.isUnlimited,
          apps: apps(of: caller.scopes), limits: caller.meter.limits
        ).encoded())
    }
  }

  /// The apps of the catalog that are in a scope, with the environments that are in both.
  private func apps(of scopes: AppScopes) -> [PermittedApp] {
    catalog.snapshot.catalog.apps.values.sorted { $0.bundleID < $1.bundleID }.compactMap { app in
      let environments = app.environments.filter { environment in
        scopes.contains(AppScope(bundleID: app.bundleID, environment: environment))
      }
      return environments.isEmpty
        ? nil : PermittedApp(bundleID: app.bundleID, environments: environments)
    }
  }

  @Sendable
  private func getCredentials(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, GetCredentialsRequest.self) { _ in
      guard let reloader else { return .now(try CredentialsResponse(inForceSince: 0).encoded()) }
      let (snapshot, lastAttempt) = reloader.status
      return .now(try CredentialsResponse(snapshot, lastAttempt: lastAttempt).encoded())
    }
  }

  @Sendable
  private func reloadCredentials(_ call: RPCCall, _ answer: RPCAnswer) {
    let caller = call.auditCaller
    answer.respond(to: call, ReloadCredentialsRequest.self) { request in
      guard let reloader else {
        throw ServiceError(
          .failedPrecondition, "the server has no file of credentials (setting credentials)")
      }
      return .later {
        let (attempt, _) = await reloader.reload(
          dryRun: request.isDryRun,
          by: try ReloadOrigin(caller, onBehalfOf: request.onBehalfOf))
        return try CredentialsResponse(reloader.status.snapshot, lastAttempt: attempt).encoded()
      }
    }
  }
}

// MARK: Messages

extension CredentialsResponse {
  init(_ snapshot: CredentialsHolder.Snapshot, lastAttempt: CredentialsAttempt?) {
    self.init(
      isEnabled: true, digest: snapshot.digest, inForceSince: snapshot.inForceSince,
      callers: snapshot.credentials.entries.map { CallerEntry($0) }, warnings: snapshot.warnings,
      lastAttempt: lastAttempt)
  }
}

extension CallerEntry {
  init(_ entry: Credentials.Entry) {
    let caller = entry.caller
    self.init(
      name: caller.name, roles: caller.roles.map(\.rawValue),
      permissions: caller.permissions.permissions, hasAllApps: caller.scopes.isUnlimited,
      apps: (caller.scopes.apps ?? [:]).sorted { $0.key < $1.key }.map { app, environments in
        PermittedApp(bundleID: app, environments: environments)
      },
      tokens: entry.tokens.map { CallerToken(id: $0.id, expires: $0.expires) },
      certificates: entry.certificates.map(\.description), users: entry.users.map(String.init),
      limits: caller.meter.limits)
  }
}

extension PermittedApp {
  /// With the environments in Apple's order.
  init(bundleID: BundleID, environments: Set<StoreEnvironment>) {
    self.init(
      bundleID: bundleID,
      environments: StoreEnvironment.allCases.filter { environments.contains($0) })
  }
}
