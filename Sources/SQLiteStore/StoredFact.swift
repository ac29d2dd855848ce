import EntitlementDomain
import EntitlementStore

/// Facts are kept as what Apple signed, and read from that again.
enum StoredFact {
  /// - Throws: ``StoreError/Code/corrupt`` when the payload is not what was stored.
  static func decode(kind: Int, digest: PayloadDigest, payload: [UInt8], scope: AppScope)
    throws(StoreError) -> Fact
  {
    guard let kind = FactKind(rawValue: kind) else {
      throw StoreError(.corrupt, "a stored fact is of the unknown kind \(kind)")
    }
    let fact: Fact
    do {
      fact = try PayloadDecoder.fact(
        kind: kind, payload: payload, digest: digest, bundleID: scope.bundleID)
    } catch {
      throw StoreError(.corrupt, "a stored fact cannot be decoded")
    }
    guard fact.scope == scope else {
      throw StoreError(.corrupt, "a stored fact is of another app or environment")
    }
    return fact
  }
}
