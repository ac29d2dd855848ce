package import EntitlementDomain

/// The outcome of extending the renewal dates of all subscribers of a product: `summary` of a
/// notification. Names and meanings are Apple's.
package struct RenewalExtensionSummary: Hashable, Sendable {
  /// The UUID of the request.
  package var requestIdentifier: String
  package var productID: ProductID
  /// ISO 3166-1, three letters each; empty: every storefront.
  package var storefrontCountryCodes: [String]
  package var succeededCount: Int64
  package var failedCount: Int64

  package init(
    requestIdentifier: String, productID: ProductID, storefrontCountryCodes: [String] = [],
    succeededCount: Int64, failedCount: Int64
  ) {
    self.requestIdentifier = requestIdentifier
    self.productID = productID
    self.storefrontCountryCodes = storefrontCountryCodes
    self.succeededCount = succeededCount
    self.failedCount = failedCount
  }

  func write(to writer: inout JSONObjectWriter) {
    writer.set("requestIdentifier", requestIdentifier)
    writer.set("productId", productID.rawValue)
    writer.set("storefrontCountryCodes", storefrontCountryCodes)
    writer.set("succeededCount", succeededCount)
    writer.set("failedCount", failedCount)
  }
}
