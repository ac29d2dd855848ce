/// The order of standings (R28): active, grace, billing retry, expired, revoked. Ties are decided
/// by the catalog level, then the latest end, then the transaction id. An active product that is
/// not in the catalog ranks below active and grace of the others (R14).
enum StandingRank {
  /// Whether `left` ranks above `right`.
  ///
  /// - Parameter level: the catalog level of `left` less that of `right`. It is negative when
  ///   `left` has the higher level of service.
  static func isBetter(_ left: Standing, than right: Standing, level: Int) -> Bool {
    if left.rank != right.rank { return left.rank < right.rank }
    if level != 0 { return level < 0 }
    let leftEnd = left.end
    let rightEnd = right.end
    if leftEnd != rightEnd { return leftEnd > rightEnd }
    return left.transactionID > right.transactionID
  }

  /// The rank of a status; 0 is the best.
  static func rank(of status: DetailedStatus) -> Int { status.rank }
}

extension Standing {
  /// The end for comparison. A purchase without an end counts as the latest; a subscription's
  /// period without an end gives no access and counts from its start.
  fileprivate var end: Milliseconds {
    if let end = graceEnd ?? periodEnd { return end }
    return productType == .autoRenewable ? periodStart : Milliseconds(.max)
  }

  /// The rank; 0 is the best. An active product that is not in the catalog confers nothing (R14).
  /// It ranks below access and grace of other products, and above every status without access.
  fileprivate var rank: Int {
    let isUnknown = notices.contains(.productUnknown)
    return isUnknown && coreState == .active ? DetailedStatus.unknownActiveRank : status.rank
  }
}

extension DetailedStatus {
  /// Between grace and billing retry.
  fileprivate static let unknownActiveRank = 2

  /// The rank; 0 is the best. R28 does not order all statuses: replaced and upcoming rank between
  /// expired and revoked, and the others last.
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
