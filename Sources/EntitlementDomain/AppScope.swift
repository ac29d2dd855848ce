/// Where the App Store made a statement. Environments never mix (R9).
package enum StoreEnvironment: String, Hashable, Sendable, CaseIterable {
  case production = "Production"
  case sandbox = "Sandbox"
  case xcode = "Xcode"
  case localTesting = "LocalTesting"
}

/// One app in one environment: the world in which identifiers have meaning and facts join (R9).
package struct AppScope: Hashable, Sendable {
  package let bundleID: BundleID
  package let environment: StoreEnvironment

  package init(bundleID: BundleID, environment: StoreEnvironment) {
    self.bundleID = bundleID
    self.environment = environment
  }
}
