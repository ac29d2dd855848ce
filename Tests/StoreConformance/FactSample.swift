import EntitlementDomain

/// A fact for a case to store. It can be moved to another app and environment.
protocol FactSample {
  var scope: AppScope { get set }
  func signed() throws -> SignedFact
}

extension TransactionSample: FactSample {}
extension RenewalSample: FactSample {}
extension AppTransactionSample: FactSample {}

extension FactSample {
  /// The same fact as from a legacy receipt.
  ///
  /// - Parameter document: the receipt; nil for one with this fact alone.
  func signedByReceipt(_ document: [UInt8]? = nil) throws -> SignedFact {
    try taken(from: document, as: .receipt)
  }

  /// The same fact as from an archived response, which is unsigned.
  ///
  /// - Parameter document: the response; nil for one with this fact alone.
  func archived(_ document: [UInt8]? = nil) throws -> SignedFact {
    try taken(from: document, as: .archivedResponse)
  }

  /// The same fact as the machine of a developer signs it (R94).
  func signed(on machine: SigningMachine) throws -> SignedFact {
    var signed = try signed()
    signed.fact = signed.fact.marked(by: machine)
    return signed
  }

  private func taken(from document: [UInt8]?, as authority: FactAuthority) throws -> SignedFact {
    var signed = try signed()
    signed.fact.authority = authority
    let document = document ?? Array("\(authority): ".utf8) + signed.signed.payload
    signed.signed.proof = .document(document)
    return signed
  }
}
