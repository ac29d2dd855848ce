/// The tables that customers in bulk have rows in, with the columns that are filled.
enum BulkTable: Int, CaseIterable {
  case accounts
  case links
  case accountLinks
  case facts
  case transactions
  case hints
  case tokens
  case linkEvents
  case accountEvents
  case changes

  private var name: String {
    switch self {
    case .accountLinks: "account_links"
    case .linkEvents: "link_events"
    case .accountEvents: "account_events"
    default: "\(self)"
    }
  }

  private var columns: String {
    switch self {
    case .accounts:
      "scope, account, revision, changed_at, merged_into, is_deleted, claims, claims_since"
    case .links: "scope, target, account, is_unsigned, is_detached, revision, changed_at"
    case .accountLinks: "scope, account, target"
    case .facts:
      """
      scope, target, kind, identifier, authority, header, signed_date, is_revoked, is_upgraded, \
      app_transaction, token, previous_chain, digest, signature, payload
      """
    case .transactions: "scope, transaction_id, target"
    case .hints: "scope, hint, target"
    case .tokens: "scope, token, account"
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
