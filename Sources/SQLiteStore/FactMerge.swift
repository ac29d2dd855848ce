import EntitlementDomain
import EntitlementStore

/// What came of one fact of a submission.
struct FactMerge {
  let fact: Fact
  var disposition: FactDisposition
  /// The row of the chain that the standing version names (R7); nil for an app transaction.
  var chainRowID: Int64?
  /// The row of the chain that a replaced version named, when it was another one.
  var formerChainRowID: Int64?
  /// Set for an app transaction.
  var appTransaction: AppTransactionKey?

  /// True when the fact stands now and did not before.
  var isNew: Bool { disposition == .added || disposition == .replaced }
}
