import ArgumentParser
import EntitlementDomain

/// Which app and environment a question is about.
struct AppOptions: ParsableArguments {
  @Option(help: "The app.")
  var bundleID: String

  @Option(help: "production, sandbox, xcode or local-testing.")
  var environment: EnvironmentName = .production

  var scope: AppScope {
    AppScope(bundleID: BundleID(bundleID), environment: environment.environment)
  }

  /// For people: `com.example.scribe (Production)`.
  var display: String { "\(scope.bundleID) (\(scope.environment.rawValue))" }
}

/// An environment as it is written on the command line.
enum EnvironmentName: String, ExpressibleByArgument, CaseIterable {
  case production
  case sandbox
  case xcode
  case localTesting = "local-testing"

  init?(argument: String) {
    // Apple's spelling, such as "LocalTesting", is understood too.
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
