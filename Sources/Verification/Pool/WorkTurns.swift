/// Whose turn it is while both priorities wait: interactive work goes first, and bulk work gets one
/// item for every ``VerificationLimits/interactiveItemsPerBulkItem`` interactive ones, so that it
/// is slow under load and never stands still.
struct WorkTurns {
  /// Interactive items that were taken while bulk work waited, since bulk work last had its turn.
  private var overtaken = 0

  /// - Parameters:
  ///   - interactive: items of the interactive piece that waits first; nil for none.
  ///   - bulk: the same of bulk work.
  /// - Returns: which of the two is to be taken now; nil when nothing waits.
  mutating func next(interactive: Int?, bulk: Int?) -> WorkPriority? {
    guard let interactive else {
      overtaken = 0
      return bulk == nil ? nil : .bulk
    }
    guard let bulk else {
      overtaken = 0
      return .interactive
    }
    // Division, as the product might not fit.
    if overtaken / VerificationLimits.interactiveItemsPerBulkItem >= bulk {
      overtaken = 0
      return .bulk
    }
    overtaken += interactive
    return .interactive
  }
}
