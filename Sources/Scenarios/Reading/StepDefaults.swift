import EntitlementDomain

/// What steps say unless they say otherwise.
struct StepDefaults {
  /// Empty where the catalog could not be read, which was reported.
  var bundleID: BundleID?
  var environment = StoreEnvironment.production
  var account: AccountID?

  var scope: AppScope {
    AppScope(bundleID: bundleID ?? "", environment: environment)
  }
}
