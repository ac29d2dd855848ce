import ArgumentParser
import EntitlementDomain

/// The app and the environment of a request.
struct AppOptions: ParsableArguments {
  @Option(help: "The app.")
  var bundleID: String

  @Option(help: "production, sandbox, xcode or local-testing.")
  var environment: EnvironmentName = .production

  var scope: AppScope {
    AppScope(bundleID: BundleID(bundleID), environment: environment.environment)
  }

  /// Human-readable: `com.example.scribe (Production)`.
  var display: String { "\(scope.bundleID) (\(scope.environment.rawValue))" }
}

/// The name of an environment on the command line.
enum EnvironmentName: String, ExpressibleByArgument, CaseIterable {
  case production
  case sandbox
  case xcode
  case localTesting = "local-testing"

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
