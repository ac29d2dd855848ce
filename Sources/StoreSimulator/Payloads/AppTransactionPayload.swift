package import EntitlementDomain

/// The payload of an app transaction (`JWSAppTransaction`). Names, meanings and units are Apple's;
/// a nil field is left out.
package struct AppTransactionPayload: Hashable, Sendable {
  /// `receiptType`.
  package var environment: StoreEnvironment?
  package var appAppleID: Int64?
  package var bundleID: BundleID
  package var applicationVersion: String?
  package var versionExternalIdentifier: Int64?
  /// `receiptCreationDate`: when it was signed.
  package var signedDate: Milliseconds
  package var originalPurchaseDate: Milliseconds?
  package var originalApplicationVersion: String?
  package var deviceVerification: String?
  package var deviceVerificationNonce: String?
  package var preorderDate: Milliseconds?
  package var appTransactionID: AppTransactionID?
  /// `iOS`, `macOS`, `tvOS` or `visionOS`.
  package var originalPlatform: String?

  package init(
    bundleID: BundleID, appAppleID: Int64?, signedDate: Milliseconds,
    environment: StoreEnvironment?
  ) {
    self.bundleID = bundleID
    self.appAppleID = appAppleID
    self.signedDate = signedDate
    self.environment = environment
  }

  /// The payload as signed; the same values give the same bytes.
  package var json: [UInt8] {
    var writer = JSONObjectWriter()
    writer.set("receiptType", environment?.rawValue)
    writer.set("appAppleId", appAppleID)
    writer.set("bundleId", bundleID.rawValue)
    writer.set("applicationVersion", applicationVersion)
    writer.set("versionExternalIdentifier", versionExternalIdentifier)
    writer.set("receiptCreationDate", signedDate, signedIn: environment)
    writer.set("originalPurchaseDate", originalPurchaseDate, signedIn: environment)
    writer.set("originalApplicationVersion", originalApplicationVersion)
    writer.set("deviceVerification", deviceVerification)
    writer.set("deviceVerificationNonce", deviceVerificationNonce)
    writer.set("preorderDate", preorderDate, signedIn: environment)
    writer.set("appTransactionId", appTransactionID?.rawValue)
    writer.set("originalPlatform", originalPlatform)
    return writer.bytes
  }
}
