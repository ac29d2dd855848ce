import EntitlementDomain
import EntitlementStore

/// Link targets and hints as the tables store them: a letter followed by the id.
enum Targets {
  static func ofFact(kind: String, identifier: String) -> String {
    """
    CASE \(kind) WHEN 1 THEN owner.target WHEN 2 THEN 'c' || \(identifier)
      ELSE 't' || \(identifier) END
    """
  }
}

extension LinkTarget {
  var stored: String {
    switch self {
    case .chain(let id): "c" + id.rawValue
    case .appTransaction(let id): "t" + id.rawValue
    }
  }

  /// - Throws: ``StoreError/Code/corrupt`` for another form.
  init(stored: String) throws(StoreError) {
    let id = String(stored.dropFirst())
    switch stored.utf8.first {
    case UInt8(ascii: "c"): self = .chain(OriginalTransactionID(id))
    case UInt8(ascii: "t"): self = .appTransaction(AppTransactionID(id))
    default: throw StoreError(.corrupt, "a stored link is of an unknown kind")
    }
  }
}

extension LinkHint {
  /// - Parameter isSigned: whether Apple signed the fact that has the hint. The hint of an unsigned
  ///   fact never links a chain to an account; it only names the app transaction of the fact.
  func stored(isSigned: Bool) -> String {
    switch self {
    case .token(let token): "a" + token.rawValue
    case .appTransaction(let id): (isSigned ? "t" : "u") + id.rawValue
    case .previousChain(let id): "p" + id.rawValue
    }
  }
}
