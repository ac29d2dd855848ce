import ArgumentParser
import EntitlementDomain
import RPCClient
import Wire

extension NameSpecification {
  /// The names of an option for an app.
  static let app: NameSpecification = [.customLong("app"), .customLong("bundle-id")]
}

/// The app and the environment of a request.
struct AppOptions: ParsableArguments {
  @Option(
    name: .app,
    help: """
      The app. Default: the context's, else the only one that the server lets the caller use.
      """)
  var bundleID: String?

  @Option(
    help: "\(EnvironmentName.list). Default: the context's, else production.")
  var environment: EnvironmentName?

  func scope(on server: ServerOptions) async throws -> AppScope {
    try await Self.scope(bundleID, environment, on: server)
  }

  /// Asks the server for an app that neither an option nor the context names.
  static func scope(
    _ bundleID: String?, _ environment: EnvironmentName?, on server: ServerOptions
  ) async throws -> AppScope {
    let context = try server.chosen()
    let environment = environment ?? context.environment
    if let bundleID = bundleID ?? context.bundleID {
      return AppScope(
        bundleID: BundleID(bundleID), environment: (environment ?? .production).environment)
    }
    let caller = try await server.withClient { client in
      do throws(RPCClientError) {
        return try await client.whoAmI()
      } catch {
        guard error.code == .status(.unimplemented) else { throw error }
        throw ValidationError("--app is needed, or a context with an app")
      }
    }
    return try scope(among: caller.apps, environment?.environment)
  }

  /// The app and the environment of a list that may be of all; nil: all. Asks the server which app a
  /// caller may use that may not use all of them.
  static func filter(
    _ bundleID: String?, _ environment: EnvironmentName?, allApps: Bool, on server: ServerOptions
  ) async throws -> (BundleID?, StoreEnvironment?) {
    if allApps { return (nil, environment?.environment) }
    let context = try server.chosen()
    let name = bundleID ?? context.bundleID
    let environment = (environment ?? context.environment)?.environment
    if let name, let environment { return (BundleID(name), environment) }
    let caller = try await server.withClient { try await $0.whoAmI() }
    guard !caller.hasAllApps else { return (name.map { BundleID($0) }, environment) }
    let apps = caller.apps.filter { name == nil || $0.bundleID.rawValue == name }
    // The server refuses an app that the caller may not use.
    if let name, apps.isEmpty { return (BundleID(name), environment ?? .production) }
    let scope = try scope(among: apps, environment)
    return (scope.bundleID, scope.environment)
  }

  /// The longest list of apps in an error.
  private static let listedApps = 20

  /// The one app that a caller may use. Its one environment, if it has one, else production.
  ///
  /// - Throws: `ValidationError` for none and for several, which are named.
  static func scope(
    among apps: [PermittedApp], _ environment: StoreEnvironment?
  ) throws -> AppScope {
    guard let app = apps.first else {
      throw ValidationError("the server lets this caller use no app")
    }
    guard apps.count == 1 else {
      let names = apps.map(\.bundleID.rawValue).sorted()
      let rest = names.count > listedApps ? " and \(names.count - listedApps) more" : ""
      throw ValidationError(
        "choose one of the \(names.count) apps, with --app or a context: "
          + names.prefix(listedApps).joined(separator: ", ") + rest)
    }
    let only = app.environments.count == 1 ? app.environments.first : nil
    return AppScope(bundleID: app.bundleID, environment: environment ?? only ?? .production)
  }
}

extension AppScope {
  /// Human-readable: `com.example.scribe (Production)`.
  var display: String { "\(bundleID) (\(environment.rawValue))" }
}

/// The name of an environment on the command line.
enum EnvironmentName: String, ExpressibleByArgument, CaseIterable {
  case production
  case sandbox
  case xcode
  case localTesting = "local-testing"

  /// For help: `production, sandbox, xcode or local-testing`.
  static let list = "production, sandbox, xcode or local-testing"

  init?(argument: String) {
    // Apple's spelling, such as "LocalTesting", is accepted too.
    let name = argument.lowercased()
    self.init(rawValue: name == "localtesting" ? "local-testing" : name)
  }

  var environment: StoreEnvironment {
    switch self {
    case .production: .production
    case .sandbox: .sandbox
    case .xcode: .xcode
    case .localTesting: .localTesting
    }
  }
}

/// The customer of a request.
struct CustomerOptions: ParsableArguments {
  enum Selector: String, ExpressibleByArgument, CaseIterable {
    case account
    case originalTransaction = "original-transaction"
    case transaction
    case appTransaction = "app-transaction"
    case appAccountToken = "app-account-token"
  }

  @Argument(help: "The customer's id, of the type given by --by.")
  var id: String

  @Option(help: "The type of the id.")
  var by: Selector = .account

  var selector: CustomerSelector {
    switch by {
    case .account: .account(AccountID(id))
    case .originalTransaction: .originalTransaction(OriginalTransactionID(id))
    case .transaction: .transaction(TransactionID(id))
    case .appTransaction: .appTransaction(AppTransactionID(id))
    case .appAccountToken: .appAccountToken(AppAccountToken(id))
    }
  }
}
