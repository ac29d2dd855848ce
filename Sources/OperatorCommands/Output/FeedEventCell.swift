import EntitlementDomain

extension FeedEvent {
  /// For a table: `REFETCH_DUE (STATUS_MISMATCH)`, `CONSUMPTION_REQUESTED until 2026-11-21 21:30:00Z`.
  var cell: String {
    let reason = refetchReason.map { " (\(wireName($0)))" } ?? ""
    let end = deadline.map { " until \($0.display)" } ?? ""
    return wireName(kind) + reason + end
  }
}

extension [FeedEvent] {
  /// For a table: all of them, `-` for none.
  var cell: String {
    isEmpty ? "-" : map(\.cell).joined(separator: ", ")
  }
}
