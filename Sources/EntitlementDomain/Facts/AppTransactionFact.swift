/// The App Store's statement about the purchase of the app itself: a `JWSAppTransaction`, or the
/// corresponding fields of a legacy receipt.
package struct AppTransactionFact: Hashable, Sendable {
  package var bundleID: BundleID
  package var environment: StoreEnvironment
  package var appAppleID: Int64?
  package var appTransactionID: AppTransactionID?
  package var originalPurchaseDate: Milliseconds?
  package var originalApplicationVersion: String?
  /// `iOS`, `macOS`, `tvOS` or `visionOS`, if present (R33).
  package var originalPlatform: String?
  package var preorderDate: Milliseconds?
  /// `receiptCreationDate`: the moment of signing.
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

  /// The `appTransactionId`. App transactions that were signed before it existed are identified by
  /// `sha256:` and the 32 hexadecimal digits of their payload's digest.
  package var identity: AppTransactionID {
    appTransactionID ?? AppTransactionID("sha256:" + digest.hexadecimal)
  }
}
