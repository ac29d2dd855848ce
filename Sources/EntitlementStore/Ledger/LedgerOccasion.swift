import EntitlementDomain

/// When a write is made, by whom, and under which rules.
struct LedgerOccasion {
  var at: Milliseconds
  /// Who asked for it; nil for a submission.
  var author: String?
  /// Why; nil as `author`.
  var note: String?
  /// Under which claims are judged and notifications reviewed.
  var catalog = Catalog()
}
