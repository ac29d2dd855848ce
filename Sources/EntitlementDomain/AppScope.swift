/// Where the App Store made a statement. Environments never mix (R9).
public enum StoreEnvironment: String, Hashable, Sendable, CaseIterable {
  case production = "Production"
  case sandbox = "Sandbox"
  case xcode = "Xcode"
  case localTesting = "LocalTesting"
}

/// One app in one environment: the world in which identifiers have meaning and facts join (R9).
public struct AppScope: Hashable, Sendable {
  public let bundleID: BundleID
  public let environment: StoreEnvironment

  public init(bundleID: BundleID, environment: StoreEnvironment) {
    self.bundleID = bundleID
    self.environment = environment
  }
}
