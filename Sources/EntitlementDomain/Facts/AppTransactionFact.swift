/// What the App Store signed about the purchase of the app itself: a `JWSAppTransaction`, or the
/// fields of a legacy receipt that say the same.
package struct AppTransactionFact: Hashable, Sendable {
  package var bundleID: BundleID
  package var environment: StoreEnvironment
  package var appAppleID: Int64?
  package var appTransactionID: AppTransactionID?
  package var originalPurchaseDate: Milliseconds?
  package var originalApplicationVersion: String?
  /// `iOS`, `macOS`, `tvOS` or `visionOS`, where present (R33).
  package var originalPlatform: String?
  package var preorderDate: Milliseconds?
  /// `receiptCreationDate`: when it was signed.
  package var signedDate: Milliseconds
  package var digest: PayloadDigest
  package var authority: FactAuthority

  package init(
    bundleID: BundleID, environment: StoreEnvironment, signedDate: Milliseconds,
    digest: PayloadDigest
  ) {
    self.bundleID = bundleID
    self.environment = environment
    self.signedDate = signedDate
    self.digest = digest
    self.authority = .signedTransaction
  }

  package var scope: AppScope { AppScope(bundleID: bundleID, environment: environment) }
}
