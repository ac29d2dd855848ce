import EntitlementDomain

/// What came of one fact of a submission.
struct FactMerge {
  let fact: Fact
  var disposition: FactDisposition
  /// What the standing version speaks of (R7).
  var target: ScopedTarget
  /// What a replaced version spoke of, when it was something else.
  var formerTarget: ScopedTarget?

  /// True when the fact stands now and did not before.
  var isNew: Bool { disposition == .added || disposition == .replaced }
}
