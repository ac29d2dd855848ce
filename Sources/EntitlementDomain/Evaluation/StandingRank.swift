/// R28: which of several standings is told: active > grace > billing retry > expired > revoked;
/// ties by catalog level, then latest end, then transaction id. What the catalog does not name is
/// active behind what it names (R14).
enum StandingRank {
  /// - Parameter level: the catalog level of both, or a difference: negative when `left` has the
  ///   higher level of service.
  static func isBetter(_ left: Standing, than right: Standing, level: Int) -> Bool {
    if left.rank != right.rank { return left.rank < right.rank }
    if level != 0 { return level < 0 }
    let leftEnd = left.end
    let rightEnd = right.end
    if leftEnd != rightEnd { return leftEnd > rightEnd }
    return left.transactionID > right.transactionID
  }

  /// 0 is the best.
  static func rank(of status: DetailedStatus) -> Int { status.rank }
}

extension Standing {
  /// For comparison: what has no end ends last, but a subscription's period whose end is missing
  /// gives no access at all.
  fileprivate var end: Milliseconds {
    if let end = graceEnd ?? periodEnd { return end }
    return productType == .autoRenewable ? periodStart : Milliseconds(.max)
  }

  /// 0 is the best. A product that the catalog does not name confers nothing (R14): while it is
  /// active it hides neither access nor grace of one that is named, but what has ended.
  fileprivate var rank: Int {
    let isUnknown = notices.contains(.productUnknown)
    return isUnknown && coreState == .active ? DetailedStatus.unknownActiveRank : status.rank
  }
}

extension DetailedStatus {
  /// Between grace and billing retry.
  fileprivate static let unknownActiveRank = 2

  /// 0 is the best. The statuses that R28 does not name come where they hide nothing: what is to
  /// come or replaced says more than what was revoked, and less than what expired.
  fileprivate var rank: Int {
    switch self {
    case .active: 0
    case .grace: 1
    case .billingRetry: 3
    case .expired: 4
    case .replaced: 5
    case .upcoming: 6
    case .revoked: 7
    case .undetermined: 8
    case .consumed: 9
    }
  }
}
