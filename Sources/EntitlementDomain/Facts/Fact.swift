/// One verified, signed statement by the App Store. Facts are never edited; a newer version of
/// the same fact replaces an older one (R3, R5).
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
    switch self {
    case .transaction(let fact): fact.digest
    case .renewalInfo(let fact): fact.digest
    case .appTransaction(let fact): fact.digest
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

  /// How much the fact weighs against another version of it (R51).
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

  /// The chain that the fact speaks of; nil for an app transaction.
  package var chain: OriginalTransactionID? {
    switch self {
    case .transaction(let fact): fact.originalTransactionID
    case .renewalInfo(let fact): fact.originalTransactionID
    case .appTransaction: nil
    }
  }
}

/// The kinds of fact. Raw values are stored: they keep their meaning.
package enum FactKind: Int, Hashable, Sendable, CaseIterable {
  case transaction = 1
  case renewalInfo = 2
  case appTransaction = 3
}

/// What makes two statements versions of the same fact, within one ``AppScope``.
package struct FactKey: Hashable, Sendable {
  package let kind: FactKind
  package let identifier: String

  package init(kind: FactKind, identifier: String) {
    self.kind = kind
    self.identifier = identifier
  }
}

/// Which of two versions of a fact stands: the greater. A total order over different statements,
/// so merging is associative, commutative and idempotent (R5).
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

extension AppTransactionFact {
  /// `appTransactionId`; for those signed before it existed, the statement itself.
  package var identity: AppTransactionID {
    appTransactionID ?? AppTransactionID("sha256:" + digest.hexadecimal)
  }
}

extension PayloadDigest {
  package var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }
}
