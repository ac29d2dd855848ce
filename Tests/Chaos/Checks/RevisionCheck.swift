/// Checks that the revision of an account, and of a chain without one, is the number of its latest
/// change that moves revisions.
struct RevisionCheck: Sendable {
  let findings: Findings

  /// 111: all kinds of change except events. For a merged account, the row of the other account
  /// counts. The ids of chains are numbers, which are stored as hexadecimal digits.
  private static let sql = #"""
    WITH latest AS (
      SELECT scope, account, chain, max(sequence) AS sequence FROM changes
      WHERE kinds & 111 <> 0 GROUP BY scope, account, chain
    )
    SELECT a.account, a.revision, coalesce(l.sequence, 0) FROM accounts a
    LEFT JOIN latest l ON l.scope = a.scope AND l.account = a.account
    WHERE a.merged_into IS NULL AND a.revision <> coalesce(l.sequence, 0)
    UNION ALL
    SELECT k.target::text, k.revision, coalesce(l.sequence, 0) FROM links k
    LEFT JOIN latest l ON l.scope = k.scope AND k.target = '\x63'::bytea
      || decode(l.chain || CASE WHEN length(l.chain) % 2 = 1 THEN 'f' ELSE '' END, 'hex')
    WHERE k.account IS NULL AND get_byte(k.target, 0) = 99
      AND k.revision <> coalesce(l.sequence, 0)
    """#

  func checkDatabase(_ database: DatabaseNode) async throws {
    for row in try await database.rows(Self.sql) {
      findings.add(.wrongRevision, row.joined(separator: ", "))
    }
  }
}
