import AppStorePayloads
package import EntitlementDomain

/// Decodes stored facts. A fact is stored as the payload that Apple signed, and decoded from it at each read.
package enum StoredFact {
  /// - Parameters:
  ///   - digest: of the fact.
  ///   - payload: as Apple signed it.
  ///   - identifier: the id that the fact is stored under, which is asked for where it may have the mark of a
  ///     machine (R94).
  /// - Throws: ``StoreError/Code/corrupt`` when the payload cannot be decoded or belongs to another scope.
  package static func decode(
    kind: FactKind, authority: FactAuthority, digest: PayloadDigest, payload: [UInt8],
    scope: AppScope, identifier: @autoclosure () throws(StoreError) -> String
  ) throws(StoreError) -> Fact {
    let fact: Fact
    do throws(PayloadError) {
      fact = try PayloadDecoder.fact(
        kind: kind, payload: payload, digest: digest, bundleID: scope.bundleID,
        authority: authority)
    } catch {
      throw StoreError(.corrupt, "a stored fact cannot be decoded")
    }
    guard fact.scope == scope else {
      throw StoreError(.corrupt, "a stored fact is of another app or environment")
    }
    return scope.environment.isLocal ? fact.stored(under: try identifier()) : fact
  }
}
