package import EntitlementDomain
package import EntitlementStore

/// Link targets, hints and ids of facts as the tables store them: bytes.
///
/// A target is its kind, `c` or `t`, and the packed id of the chain or app transaction. A hint is its
/// kind and the packed id. A fact whose id is that of its target, as most are, has empty bytes for it
/// (``FactKey/stored(in:)``), and no row in `transactions`.
package enum Targets {
  /// SQL of a chain as a target.
  static func ofChain(_ identifier: String) -> String { #"('\x63'::bytea || \#(identifier))"# }

  /// SQL of an app transaction as a target.
  static func ofAppTransaction(_ identifier: String) -> String {
    #"('\x74'::bytea || \#(identifier))"#
  }

  /// SQL of what all chains are below, and no chain above.
  static let afterChains = #"'\x64'::bytea"#

  /// SQL of the target of a fact.
  ///
  /// - Parameters:
  ///   - identifier: the packed id of the fact.
  ///   - listed: the target of the fact's row in `transactions`; NULL without one.
  static func ofFact(kind: String, identifier: String, listed: String) -> String {
    """
    CASE \(kind) WHEN 3 THEN \(ofAppTransaction(identifier))
      ELSE coalesce(\(listed), \(ofChain(identifier))) END
    """
  }

  /// SQL of ``FactKey/stored(in:)``.
  ///
  /// - Parameter identifier: the packed id of the fact.
  static func storedIdentifier(_ identifier: String, in target: String) -> String {
    "CASE WHEN substring(\(target) FROM 2) = \(identifier) THEN ''::bytea ELSE \(identifier) END"
  }

  /// SQL of the packed id of a stored fact.
  ///
  /// - Parameter table: with the columns `target` and `identifier`.
  static func identifier(of table: String) -> String {
    """
    CASE WHEN \(table).identifier = ''::bytea THEN substring(\(table).target FROM 2)
      ELSE \(table).identifier END
    """
  }

  /// SQL of the targets of the account of the row before it, as a joined table: `held.target`. The scope
  /// is `$1`.
  static func ofAccount(of table: String) -> String {
    """
    accounts AS customer
        ON customer.scope = $1::bigint AND customer.account = \(table).account
      CROSS JOIN LATERAL unnest(customer.targets) AS held (target)
    """
  }

  /// SQL of the rows of a table with the target of the row before it, `held.target`, as a joined table. The
  /// scope is `$1`. Not a plain join: how many targets there are is not known when the statement is planned,
  /// and the rows must be found by their index for each.
  static func rows(of table: String) -> String {
    """
    CROSS JOIN LATERAL (
      SELECT * FROM \(table)
      WHERE \(table).scope = $1::bigint AND \(table).target = held.target
      OFFSET 0) AS \(table)
    """
  }

  /// SQL of a target as text, its letter and its id, as `notifications` has it.
  static func text(of target: String) -> String {
    let identifier = "substring(\(target) FROM 2)"
    return """
      convert_from(substring(\(target) FROM 1 FOR 1), 'UTF8') || CASE get_byte(\(target), 1)
        WHEN 255 THEN convert_from(substring(\(target) FROM 3), 'UTF8')
        WHEN 254 THEN encode(substring(\(target) FROM 3), 'hex')::uuid::text
        ELSE rtrim(encode(\(identifier), 'hex'), 'f') END
      """
  }

  /// The text of an array of targets. PostgreSQL has no array of arrays with different lengths, so that
  /// the targets of several accounts are parameters in this form.
  package static func array(_ targets: [[UInt8]]) -> String {
    let elements = targets.map { target in
      "\"\\\\x" + target.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        + "\""
    }
    return "{\(elements.joined(separator: ","))}"
  }
}

extension LinkTarget {
  package var stored: [UInt8] {
    let kind: UInt8 =
      switch self {
      case .chain: UInt8(ascii: "c")
      case .appTransaction: UInt8(ascii: "t")
      }
    return [kind] + PackedIdentifier.bytes(of: identifier)
  }

  /// - Throws: ``StoreError/Code/corrupt`` for another form.
  package init(stored: [UInt8]) throws(StoreError) {
    switch stored.first {
    case UInt8(ascii: "c"):
      self = .chain(OriginalTransactionID(try PackedIdentifier.text(of: stored.dropFirst())))
    case UInt8(ascii: "t"):
      self = .appTransaction(AppTransactionID(try PackedIdentifier.text(of: stored.dropFirst())))
    default: throw StoreError(.corrupt, "a stored link is of an unknown kind")
    }
  }

  fileprivate var identifier: String {
    switch self {
    case .chain(let id): id.rawValue
    case .appTransaction(let id): id.rawValue
    }
  }
}

extension FactKey {
  /// The id of a fact as its row has it: empty where it is that of the target, packed otherwise.
  package func stored(in target: LinkTarget) -> [UInt8] {
    // Bytes, as SQL compares: equal strings may differ in them.
    identifier.utf8.elementsEqual(target.identifier.utf8)
      ? [] : packedIdentifier
  }

  /// Whether a fact in a target has a row in `transactions`: a transaction that is not in the chain that
  /// has its id.
  package func isListed(in target: LinkTarget) -> Bool {
    kind == .transaction && target != .chain(OriginalTransactionID(identifier))
  }
}

extension LinkHint {
  /// - Parameter isSigned: whether Apple signed the fact that has the hint. The hint of an unsigned
  ///   fact never links a chain to an account; it only names the app transaction of the fact.
  package func stored(isSigned: Bool) -> [UInt8] {
    let (kind, identifier) =
      switch self {
      case .token(let token): ("a", token.rawValue)
      case .appTransaction(let id): (isSigned ? "t" : "u", id.rawValue)
      case .previousChain(let id): ("p", id.rawValue)
      }
    return Array(kind.utf8) + PackedIdentifier.bytes(of: identifier)
  }
}
