package import EntitlementDomain
package import EntitlementStore

/// Link targets and ids of facts as the tables store them: bytes.
///
/// A target is its kind, `c` or `a`, and the packed id of the chain or app transaction. Apple's ids grow,
/// so that new chains are mostly the last of the index of facts, where PostgreSQL leaves full pages
/// behind. A fact whose id is that of its target, as most are, has empty bytes for it, or the byte FD if
/// it is a renewal info (``FactKey/stored(in:)``), and no row in `transactions`.
package enum Targets {
  /// SQL of a chain as a target.
  static func ofChain(_ identifier: String) -> String { #"('\x63'::bytea || \#(identifier))"# }

  /// SQL of an app transaction as a target.
  static func ofAppTransaction(_ identifier: String) -> String {
    #"('\x61'::bytea || \#(identifier))"#
  }

  /// SQL of what all chains are below, and no chain above.
  static let afterChains = #"'\x64'::bytea"#

  /// SQL of the order of lists: chains before app transactions, then by their packed ids.
  static func order(of target: String) -> String { "get_byte(\(target), 0) DESC, \(target)" }

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
  static func storedIdentifier(
    _ identifier: String, kind: String, in target: String
  ) -> String {
    #"""
    CASE WHEN \#(kind) = 2 THEN '\xfd'::bytea
      WHEN substring(\#(target) FROM 2) = \#(identifier) THEN ''::bytea ELSE \#(identifier) END
    """#
  }

  /// SQL of the packed id of a stored fact.
  ///
  /// - Parameter table: with the columns `target` and `identifier`.
  static func identifier(of table: String) -> String {
    #"""
    CASE WHEN \#(table).identifier IN (''::bytea, '\xfd'::bytea)
      THEN substring(\#(table).target FROM 2) ELSE \#(table).identifier END
    """#
  }

  /// SQL of what a row of facts holds of its payload, for ``PostgresRows/rowTexts(_:_:)``.
  static func rowTexts(of table: String) -> String {
    """
    \(identifier(of: table)), \(table).app_transaction, \(table).token, \(table).previous_chain,
      \(table).signed_date
    """
  }

  /// SQL of the array of all targets of an account, with NULL for each that is missing to two.
  static func all(of account: String) -> String {
    "(ARRAY[\(account).first_target, \(account).second_target] || \(account).more_targets)"
  }

  /// The columns of an account with its targets.
  static let columns = "first_target, second_target, more_targets"

  /// SQL of the values of ``columns``.
  ///
  /// - Parameter array: without NULL.
  static func values(of array: String) -> String {
    "\(array)[1], \(array)[2], nullif(\(array)[3:], '{}')"
  }

  /// SQL of the targets of the account of the row before it, as a joined table: `held.target`. The scope
  /// is `$1`.
  static func ofAccount(of table: String) -> String {
    """
    accounts AS customer
        ON customer.scope = $1::bigint AND customer.account = \(table).account
      CROSS JOIN LATERAL unnest(\(all(of: "customer"))) AS held (target)
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
      case .appTransaction: UInt8(ascii: "a")
      }
    return [kind] + PackedIdentifier.bytes(of: identifier)
  }

  /// - Throws: ``StoreError/Code/corrupt`` for another form.
  package init(stored: [UInt8]) throws(StoreError) {
    switch stored.first {
    case UInt8(ascii: "c"):
      self = .chain(OriginalTransactionID(try PackedIdentifier.text(of: stored.dropFirst())))
    case UInt8(ascii: "a"):
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
  /// The id of a fact as its row has it: empty where it is that of the target, packed otherwise. That of a
  /// renewal info is always that of its chain, whose first transaction may be there too: it is the byte FD.
  package func stored(in target: LinkTarget) -> [UInt8] {
    if kind == .renewalInfo { return [0xFD] }
    // Bytes, as SQL compares: equal strings may differ in them.
    return identifier.utf8.elementsEqual(target.identifier.utf8) ? [] : packedIdentifier
  }

  /// Whether a fact in a target has a row in `transactions`: a transaction that is not in the chain that
  /// has its id.
  package func isListed(in target: LinkTarget) -> Bool {
    kind == .transaction && target != .chain(OriginalTransactionID(identifier))
  }
}
