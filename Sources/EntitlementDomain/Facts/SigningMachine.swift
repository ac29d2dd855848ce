/// The developer's machine that signed a fact (R94). StoreKit Testing in Xcode numbers transactions from 0 on
/// each machine, so the ids of its facts get a mark that keeps them apart from those of other machines.
package struct SigningMachine: Hashable, Sendable {
  /// What is added to ids: `@` and the first 8 hexadecimal digits of the certificate's fingerprint.
  package let mark: String

  /// - Parameter fingerprint: the SHA-256 of the certificate that signs there, in hexadecimal digits.
  package init(fingerprint: String) {
    mark = "@" + fingerprint.prefix(8)
  }

  /// The machine whose mark makes one id of another; nil if none does.
  init?(marking id: String, as marked: String) {
    guard marked.utf8.count > id.utf8.count, marked.utf8.starts(with: id.utf8) else { return nil }
    mark = String(marked.utf8.dropFirst(id.utf8.count)) ?? ""
  }
}

extension Identifier {
  fileprivate func marked(by machine: SigningMachine) -> Self { Self(rawValue + machine.mark) }
}

extension TransactionFact {
  package func marked(by machine: SigningMachine) -> Self {
    var fact = self
    fact.transactionID = transactionID.marked(by: machine)
    fact.originalTransactionID = originalTransactionID.marked(by: machine)
    fact.previousOriginalTransactionID = previousOriginalTransactionID?.marked(by: machine)
    fact.webOrderLineItemID = webOrderLineItemID?.marked(by: machine)
    fact.appTransactionID = appTransactionID?.marked(by: machine)
    return fact
  }
}

extension RenewalInfoFact {
  package func marked(by machine: SigningMachine) -> Self {
    var fact = self
    fact.originalTransactionID = originalTransactionID.marked(by: machine)
    fact.appTransactionID = appTransactionID?.marked(by: machine)
    return fact
  }
}

extension AppTransactionFact {
  package func marked(by machine: SigningMachine) -> Self {
    var fact = self
    fact.appTransactionID = appTransactionID?.marked(by: machine)
    return fact
  }
}

extension Fact {
  package func marked(by machine: SigningMachine) -> Fact {
    switch self {
    case .transaction(let fact): .transaction(fact.marked(by: machine))
    case .renewalInfo(let fact): .renewalInfo(fact.marked(by: machine))
    case .appTransaction(let fact): .appTransaction(fact.marked(by: machine))
    }
  }

  /// A fact that was decoded from its payload, with the mark of the id that it is stored under, if that has
  /// one.
  package func stored(under identifier: String) -> Fact {
    SigningMachine(marking: key.identifier, as: identifier).map(marked(by:)) ?? self
  }
}
