import AppStorePayloads
import EntitlementDomain
import EntitlementStore
import TestSupport

/// Facts to submit. Stores do not verify signatures, so these are made up.
enum StoreSample {
  static let scope = AppScope(bundleID: "com.example.reader", environment: .production)

  /// A period that is in force at ``now``.
  static func transaction(
    _ id: String, _ chain: String, signedAt: Int64 = 1_000, fields: String = "",
    of bundleID: BundleID = scope.bundleID, header: [UInt8] = [1, 2, 3]
  ) throws -> SignedFact {
    let payload = Array(
      """
      {"transactionId":"\(id)","originalTransactionId":"\(chain)","bundleId":"\(bundleID)",\
      "environment":"Production","productId":"com.example.reader.monthly",\
      "type":"Auto-Renewable Subscription","inAppOwnershipType":"PURCHASED","purchaseDate":100,\
      "expiresDate":2592000100,"signedDate":\(signedAt)\(fields)}
      """.utf8)
    let digest = try StoredPayload.digest(of: payload)
    return SignedFact(
      fact: try PayloadDecoder.fact(
        kind: .transaction, payload: payload, digest: digest, bundleID: bundleID),
      signed: SignedPayload(
        header: header, payload: payload, signature: digest.bytes + digest.bytes))
  }

  static let now: Milliseconds = 5_000

  static func submission(
    _ facts: [SignedFact], by account: AccountID? = nil, under policy: LinkPolicy = .transfer,
    at: Milliseconds = now
  ) -> Submission {
    Submission(
      facts: facts, accountID: account, receivedAt: at,
      catalog: catalog(policy))
  }

  /// Nearly without limits.
  static func catalog(_ policy: LinkPolicy = .transfer) -> Catalog {
    Catalog(apps: [
      CatalogApp(
        bundleID: scope.bundleID, linkPolicies: [.production: policy], claimsPerDay: 1_000_000,
        claimsPerPurchase: .max,
        chainsPerAccount: 1_000_000)
    ])
  }
}

extension EntitlementStore {
  @discardableResult
  func submit(
    _ id: String, _ chain: String, by account: AccountID? = nil, signedAt: Int64 = 1_000
  ) async throws -> CommitReceipt {
    try await commit(
      StoreSample.submission(
        [try StoreSample.transaction(id, chain, signedAt: signedAt)], by: account))
  }

  /// The whole feed, once it contains a change.
  func feed(through last: Int64) async throws -> [Change] {
    try await eventually { try await feedEnd() >= last }
    var feed: [Change] = []
    while true {
      let page = try await changes(after: feed.last?.sequence ?? 0, limit: 1_000)
      if page.isEmpty { return feed }
      feed += page
    }
  }
}
