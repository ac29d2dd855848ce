/// The environment of the App Store in which a payload was signed. Environments never mix (R9).
public enum StoreEnvironment: String, Hashable, Sendable, CaseIterable {
  /// Purchases of the App Store.
  case production = "Production"
  /// Purchases of sandbox accounts and of TestFlight.
  case sandbox = "Sandbox"
  /// Purchases of StoreKit testing in Xcode.
  case xcode = "Xcode"
  /// Purchases of local StoreKit tests.
  case localTesting = "LocalTesting"

  /// Whether StoreKit Testing in Xcode signs, on the machine of a developer.
  package var isLocal: Bool {
    switch self {
    case .xcode, .localTesting: true
    case .production, .sandbox: false
    }
  }
}

/// One app in one environment. Identifiers are unique, and facts are merged, only within it (R9).
public struct AppScope: Hashable, Sendable {
  /// The app.
  public let bundleID: BundleID
  /// The environment.
  public let environment: StoreEnvironment

  public init(bundleID: BundleID, environment: StoreEnvironment) {
    self.bundleID = bundleID
    self.environment = environment
  }
}
