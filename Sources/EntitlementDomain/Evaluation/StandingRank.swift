/// R28: which of several standings is told: active > grace > billing retry > expired > revoked;
/// ties by catalog level, then latest end, then transaction id.
enum StandingRank {
  /// - Parameter level: the catalog level of both, or a difference: negative when `left` has the
  ///   higher level of service.
  static func isBetter(_ left: Standing, than right: Standing, level: Int) -> Bool {
    if left.status.rank != right.status.rank { return left.status.rank < right.status.rank }
    if level != 0 { return level < 0 }
    let leftEnd = left.end
    let rightEnd = right.end
    if leftEnd != rightEnd { return leftEnd > rightEnd }
    return left.transactionID > right.transactionID
  }
}

extension Standing {
  /// For comparison: what has no end ends last.
  fileprivate var end: Milliseconds { graceEnd ?? periodEnd ?? Milliseconds(.max) }
}

extension DetailedStatus {
  /// 0 is the best. The statuses that R28 does not name come where they hide nothing: what is to
  /// come or replaced says more than what was revoked, and less than what expired.
  fileprivate var rank: Int {
    switch self {
    case .active: 0
    case .grace: 1
    case .billingRetry: 2
    case .expired: 3
    case .replaced: 4
    case .upcoming: 5
    case .revoked: 6
    case .undetermined: 7
    case .consumed: 8
    }
  }
}
