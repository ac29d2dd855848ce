import AppStorePayloads
package import EntitlementDomain

/// A statement that completes a standing transaction of another form (R92): of the statements of the next
/// lower authority, the one that stands. It is stored with the standing one as its payload, so that a read
/// needs no other row.
package struct FactSupplement: Hashable, Sendable {
  let transaction: TransactionFact

  /// - Parameters:
  ///   - payload: as stored.
  ///   - authority: that of the standing transaction.
  ///   - fact: a statement of the same transaction.
  /// - Throws: ``StoreError/Code/corrupt`` when the payload cannot be decoded or is of another scope.
  package init(
    payload: [UInt8], completing authority: FactAuthority, of fact: Fact
  ) throws(StoreError) {
    let supplement = try StoredFact.decode(
      kind: .transaction, authority: authority.completing ?? .archivedResponse,
      digest: try StoredPayload.digest(of: payload), payload: payload, scope: fact.scope,
      identifier: fact.key.identifier)
    guard case .transaction(let transaction) = supplement else {
      throw StoreError(.corrupt, "the supplement of a stored fact is no transaction")
    }
    self.transaction = transaction
  }

  /// The standing transaction with what this statement adds.
  package func completing(_ standing: Fact) -> Fact {
    guard case .transaction(let fact) = standing else { return standing }
    return .transaction(fact.completed(by: transaction))
  }

  var precedence: FactPrecedence { transaction.precedence }

  /// The statement as a version of its fact.
  var version: FactVersion {
    FactVersion(fact: .transaction(transaction), moments: SigningMoments(transaction.signedDate))
  }
}

extension StandingFact {
  /// The payload of the supplement once a statement is merged.
  ///
  /// What is kept depends on the statements only, not on their order: of the form below the standing
  /// one, the statement that stands, if it completes the standing one. One that is dropped could not be
  /// needed again, since the authority and the signing date of what stands only grow.
  ///
  /// - Parameter stands: whether the statement stands from now on.
  /// - Throws: ``StoreError/Code/corrupt`` when the stored one cannot be decoded.
  func supplement(with signed: SignedFact, stands: Bool) throws(StoreError) -> [UInt8]? {
    let fact = signed.fact
    guard case .transaction = fact else { return nil }
    if stands {
      if fact.authority > precedence.authority {
        return fact.precedence.isCompleted(by: precedence) ? payload : nil
      }
      guard let supplement else { return nil }
      let kept = try FactSupplement(
        payload: supplement, completing: precedence.authority, of: fact)
      return fact.precedence.isCompleted(by: kept.precedence) ? supplement : nil
    }
    guard precedence.isCompleted(by: fact.precedence) else { return supplement }
    if let supplement {
      let kept = try FactSupplement(
        payload: supplement, completing: precedence.authority, of: fact)
      if fact.precedence <= kept.precedence { return supplement }
    }
    return signed.signed.payload
  }

  /// Whether another supplement may change a state. One that only differs in its signing does not.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` when one of them cannot be decoded.
  func saysMore(with other: [UInt8]?, of fact: Fact) throws(StoreError) -> Bool {
    if supplement == other { return false }
    return try addition(supplement, to: fact) != addition(other, to: fact)
  }

  /// A version of the transaction without all that differs between statements that add the same.
  private func addition(
    _ supplement: [UInt8]?, to fact: Fact
  ) throws(StoreError) -> TransactionFact? {
    guard let supplement else { return nil }
    var addition = try FactSupplement(
      payload: supplement, completing: precedence.authority, of: fact
    ).transaction
    // Beside a JWS, only a revocation counts.
    if precedence.authority == .signedTransaction, addition.revocationDate == nil { return nil }
    addition.signedDate = 0
    addition.digest = precedence.digest
    return addition
  }
}
