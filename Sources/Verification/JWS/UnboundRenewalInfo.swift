package import EntitlementDomain

/// A verified renewal info that came by itself. It names no app: it becomes a fact once it is bound
/// to the app of its chain, and only if the policy accepts that app.
package struct UnboundRenewalInfo: Hashable, Sendable {
  // Its bundle id is empty, and never shown.
  private let fact: RenewalInfoFact

  init(_ fields: PayloadFields, digest: PayloadDigest) throws(PayloadError) {
    fact = try PayloadDecoder.renewalInfo(fields, digest: digest, bundleID: BundleID(""))
  }

  package var originalTransactionID: OriginalTransactionID { fact.originalTransactionID }
  package var environment: StoreEnvironment { fact.environment }

  package func bound(to bundleID: BundleID) -> RenewalInfoFact {
    var fact = fact
    fact.bundleID = bundleID
    return fact
  }
}
