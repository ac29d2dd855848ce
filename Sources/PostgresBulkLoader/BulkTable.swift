/// The tables that bulk loading fills, with their columns.
enum BulkTable: Int, CaseIterable {
  case accounts
  case links
  case facts
  case transactions
  case tokens
  case linkEvents
  case accountEvents
  case changes

  private var name: String {
    switch self {
    case .linkEvents: "link_events"
    case .accountEvents: "account_events"
    default: "\(self)"
    }
  }

  private var columns: String {
    switch self {
    case .accounts:
      """
      scope, account, revision, changed_at, merged_into, is_deleted, claims, claims_since, chains, \
      first_target, second_target, more_targets
      """
    case .links:
      """
      scope, target, account, is_unsigned, is_detached, is_former_chain, standing, revision, \
      changed_at, event_reason, event_position
      """
    case .facts:
      """
      scope, target, kind, identifier, authority, header, signed_date, is_revoked, is_upgraded, \
      app_transaction, token, previous_chain, digest, signature, payload
      """
    case .transactions: "scope, transaction_id, target"
    case .tokens: "scope, token, account, state, since"
    case .linkEvents:
      """
      scope, target, position, at, from_account, to_account, is_from_erased, is_to_erased, reason
      """
    case .accountEvents: "scope, account, position, target"
    case .changes: "sequence, committed_at, scope, kinds, account, chain"
    }
  }

  var copyCommand: String { "COPY \(name) (\(columns)) FROM STDIN;\n" }
}

/// The COPY data of each table.
struct BulkTableBuffers {
  /// The id of the app and environment of all rows.
  private let scope: Int64
  /// Indexed by the raw value of the table.
  private var buffers = BulkTable.allCases.map { _ in CopyText() }

  init(scope: Int64) {
    self.scope = scope
  }

  /// The `psql` commands that load the rows in one transaction.
  var script: [UInt8] {
    var script = Array("BEGIN;\n".utf8)
    for table in BulkTable.allCases {
      let text = buffers[table.rawValue].bytes
      if text.isEmpty { continue }
      script += table.copyCommand.utf8
      script += text
      script += CopyText.endOfData
    }
    script += "COMMIT;\n".utf8
    return script
  }

  /// Keeps the allocated memory.
  mutating func removeAll() {
    for index in buffers.indices { buffers[index].removeAll() }
  }

  /// Adds a row whose first column is the scope.
  mutating func row(_ table: BulkTable, _ columns: (inout CopyText) -> Void) {
    write(table) { scope, text in
      text.add(scope)
      columns(&text)
    }
  }

  /// Adds a row with the scope in another column.
  mutating func write(
    _ table: BulkTable, _ columns: (_ scope: Int64, inout CopyText) -> Void
  ) {
    columns(scope, &buffers[table.rawValue])
    buffers[table.rawValue].endRow()
  }
}
