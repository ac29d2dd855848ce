import EntitlementDomain
import EntitlementStore

let testScope = AppScope(bundleID: "com.example.reader", environment: .production)

/// A transaction of a chain of its own, with as many bytes of an unknown field as asked for, which
/// hardly compress.
func testFact(_ number: Int, padding: Int = 0, signedAt: Int64 = 2) -> SignedFact {
  let id = String(number)
  let payload = Array(
    """
    {"transactionId":"\(id)","originalTransactionId":"\(id)",\
    "bundleId":"\(testScope.bundleID)","environment":"\(testScope.environment.rawValue)",\
    "productId":"com.example.reader.lifetime","type":"Non-Consumable","purchaseDate":1,\
    "signedDate":\(signedAt),"padding":"\(testPadding(padding, of: number))"}
    """.utf8)
  let digest = testDigest(payload)
  let fact = TransactionFact(
    bundleID: testScope.bundleID, environment: testScope.environment,
    originalTransactionID: OriginalTransactionID(id), transactionID: TransactionID(id),
    productID: "com.example.reader.lifetime", type: .nonConsumable, purchaseDate: 1,
    signedDate: Milliseconds(signedAt), digest: digest)
  return SignedFact(
    fact: .transaction(fact),
    signed: SignedPayload(
      header: Array("eyJhbGciOiJFUzI1NiJ9".utf8), payload: payload,
      signature: [UInt8](repeating: 7, count: 64)))
}

/// Letters, digits and two more in a random order, which follows from a number.
private func testPadding(_ count: Int, of number: Int) -> String {
  let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-".utf8)
  var state = UInt64(number) &* 0x9e37_79b9_7f4a_7c15
  let text = (0..<count).map { _ in
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return letters[Int(state >> 58)]
  }
  return String(decoding: text, as: UTF8.self)
}

/// A failure of the library is a defect of the machine.
func testDigest(_ bytes: [UInt8]) -> PayloadDigest {
  do {
    return try StoredPayload.digest(of: bytes)
  } catch {
    preconditionFailure("\(error)")
  }
}

extension EntitlementStore {
  @discardableResult
  func submit(_ facts: SignedFact...) async throws(StoreError) -> CommitReceipt {
    try await commit(Submission(facts: facts, accountID: nil, receivedAt: 3))
  }

  /// Numbers of the ``testFact(_:padding:)`` that are stored, in the order of their commits.
  func storedNumbers() async throws -> [Int] {
    try await changes(after: 0, limit: 100_000).compactMap { change in
      guard case .unlinkedChain(_, let chain) = change.subject else { return nil }
      return Int(chain.rawValue)
    }
  }
}
