import EntitlementStore

/// What came of one fact of a submission.
struct FactMerge {
  var disposition: FactDisposition
  /// The row of the chain that the standing version names (R7); nil for an app transaction.
  var chainRowID: Int64?
  /// The row of the chain that a replaced version named, when it was another one.
  var formerChainRowID: Int64?

  /// True when the fact stands now and did not before.
  var isNew: Bool { disposition == .added || disposition == .replaced }
}
