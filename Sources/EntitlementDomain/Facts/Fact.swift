/// One verified statement of the App Store. Facts are never edited; a newer version of a fact
/// replaces an older one (R3, R5).
package enum Fact: Hashable, Sendable {
  indirect case transaction(TransactionFact)
  indirect case renewalInfo(RenewalInfoFact)
  indirect case appTransaction(AppTransactionFact)

  package var kind: FactKind {
    switch self {
    case .transaction: .transaction
    case .renewalInfo: .renewalInfo
    case .appTransaction: .appTransaction
    }
  }

  package var scope: AppScope {
    switch self {
    case .transaction(let fact): fact.scope
    case .renewalInfo(let fact): fact.scope
    case .appTransaction(let fact): fact.scope
    }
  }

  package var digest: PayloadDigest {
    get {
      switch self {
      case .transaction(let fact): fact.digest
      case .renewalInfo(let fact): fact.digest
      case .appTransaction(let fact): fact.digest
      }
    }
    set {
      switch self {
      case .transaction(var fact):
        fact.digest = newValue
        self = .transaction(fact)
      case .renewalInfo(var fact):
        fact.digest = newValue
        self = .renewalInfo(fact)
      case .appTransaction(var fact):
        fact.digest = newValue
        self = .appTransaction(fact)
      }
    }
  }

  package var key: FactKey {
    switch self {
    case .transaction(let fact):
      FactKey(kind: .transaction, identifier: fact.transactionID.rawValue)
    case .renewalInfo(let fact):
      FactKey(kind: .renewalInfo, identifier: fact.originalTransactionID.rawValue)
    case .appTransaction(let fact):
      FactKey(kind: .appTransaction, identifier: fact.identity.rawValue)
    }
  }

  package var precedence: FactPrecedence {
    switch self {
    case .transaction(let fact): fact.precedence
    case .renewalInfo(let fact):
      FactPrecedence(
        authority: fact.authority, signedDate: fact.signedDate, isRevoked: false,
        isUpgraded: false, digest: fact.digest)
    case .appTransaction(let fact):
      FactPrecedence(
        authority: fact.authority, signedDate: fact.signedDate, isRevoked: false,
        isUpgraded: false, digest: fact.digest)
    }
  }

  /// The authority of the fact in comparison with other versions of it (R51).
  package var authority: FactAuthority {
    get {
      switch self {
      case .transaction(let fact): fact.authority
      case .renewalInfo(let fact): fact.authority
      case .appTransaction(let fact): fact.authority
      }
    }
    set {
      switch self {
      case .transaction(var fact):
        fact.authority = newValue
        self = .transaction(fact)
      case .renewalInfo(var fact):
        fact.authority = newValue
        self = .renewalInfo(fact)
      case .appTransaction(var fact):
        fact.authority = newValue
        self = .appTransaction(fact)
      }
    }
  }

  /// The chain of the fact; nil for an app transaction.
  package var chain: OriginalTransactionID? {
    switch self {
    case .transaction(let fact): fact.originalTransactionID
    case .renewalInfo(let fact): fact.originalTransactionID
    case .appTransaction: nil
    }
  }
}

/// The kind of a fact. Raw values are stored and must not change.
package enum FactKind: Int, Hashable, Sendable, CaseIterable {
  case transaction = 1
  case renewalInfo = 2
  case appTransaction = 3
}

/// The key of a fact within one ``AppScope``. Two statements with the same key are versions of one
/// fact.
package struct FactKey: Hashable, Sendable {
  package let kind: FactKind
  package let identifier: String

  package init(kind: FactKind, identifier: String) {
    self.kind = kind
    self.identifier = identifier
  }

  // By bytes, as databases compare (``Identifier``). The synthesised hash remains valid.
  package static func == (left: Self, right: Self) -> Bool {
    left.kind == right.kind && IdentifierBytes.areEqual(left.identifier, right.identifier)
  }
}

/// The order of the versions of a fact: the greatest one stands. The order is total over different
/// statements, so merging is associative, commutative and idempotent (R5).
package struct FactPrecedence: Hashable, Comparable, Sendable {
  package let authority: FactAuthority
  package let signedDate: Milliseconds
  package let isRevoked: Bool
  package let isUpgraded: Bool
  package let digest: PayloadDigest

  package init(
    authority: FactAuthority = .signedTransaction, signedDate: Milliseconds, isRevoked: Bool,
    isUpgraded: Bool, digest: PayloadDigest
  ) {
    self.authority = authority
    self.signedDate = signedDate
    self.isRevoked = isRevoked
    self.isUpgraded = isUpgraded
    self.digest = digest
  }

  package static func < (left: Self, right: Self) -> Bool {
    if left.authority != right.authority { return left.authority < right.authority }
    if left.signedDate != right.signedDate { return left.signedDate < right.signedDate }
    if left.isRevoked != right.isRevoked { return right.isRevoked }
    if left.isUpgraded != right.isUpgraded { return right.isUpgraded }
    return left.digest < right.digest
  }
}

extension TransactionFact {
  package var precedence: FactPrecedence {
    FactPrecedence(
      authority: authority, signedDate: signedDate, isRevoked: revocationDate != nil,
      isUpgraded: isUpgraded, digest: digest)
  }
}

/// The authority of a fact. Of two versions the one with the greater authority stands, whatever
/// their dates (R51). Raw values are stored and must not change.
public enum FactAuthority: Int, Hashable, Comparable, Sendable {
  /// An archived response of `verifyReceipt` that an operator imported. It is not signed, so it
  /// never replaces a signed fact.
  case archivedResponse = 0
  /// A verified legacy receipt (PKCS#7). It never replaces a JWS.
  case receipt = 1
  /// A JWS.
  case signedTransaction = 2

  /// Whether the fact is signed by Apple, as a JWS or a receipt.
  public var isSigned: Bool { self > .archivedResponse }

  public static func < (left: Self, right: Self) -> Bool {
    left.rawValue < right.rawValue
  }
}
