/// The order of standings (R28): active, grace, the same outside the catalog, billing retry,
/// expired, revoked. Ties are decided by the catalog level, then the latest end, then the
/// transaction id (R63). A product that is not in the catalog confers nothing, and ranks with its
/// access below active and grace of the others (R14).
enum StandingRank {
  /// Whether `left` ranks above `right`.
  ///
  /// - Parameter level: the catalog level of `left` less that of `right`. It is negative when
  ///   `left` has the higher level of service.
  static func isBetter(_ left: some Ranked, than right: some Ranked, level: Int) -> Bool {
    isBetter(
      left.rank, than: right.rank, level: level, orByID: left.transactionID > right.transactionID)
  }

  /// - Parameter isGreater: whether the transaction id of `left` is greater.
  static func isBetter(
    _ left: Rank, than right: Rank, level: Int, orByID isGreater: @autoclosure () -> Bool
  ) -> Bool {
    if left.status != right.status { return left.status < right.status }
    if level != 0 { return level < 0 }
    return left.end == right.end ? isGreater() : left.end > right.end
  }

  /// The rank of a status; 0 is the best.
  static func rank(of status: DetailedStatus) -> Int { status.rank }

  /// - Parameter isUnknown: whether the product is not in the catalog.
  static func rank(of status: DetailedStatus, isUnknown: Bool) -> Int {
    let isActive = status == .active || status == .grace
    return status.rank + (isUnknown && isActive ? DetailedStatus.unknownRanks : 0)
  }

  /// The parts of a standing that rank it, but for ties.
  struct Rank {
    /// By ``rank(of:isUnknown:)``.
    let status: Int
    let end: Milliseconds
  }

  /// What ranks: a standing, or the parts of one that count.
  protocol Ranked {
    var rank: Rank { get }
    var transactionID: TransactionID { get }
  }

  /// The parts of a standing that rank it.
  struct Candidate: Ranked {
    let rank: Rank
    let transactionID: TransactionID
  }
}

extension Standing: StandingRank.Ranked {
  /// Access to a product that is not in the catalog confers nothing (R14). It ranks below access and
  /// grace of other products, and above every status without access.
  var rank: StandingRank.Rank {
    StandingRank.Rank(
      status: StandingRank.rank(of: status, isUnknown: notices.contains(.productUnknown)),
      end: rankedEnd)
  }

  /// The end for comparison. A purchase without an end counts as the latest; a subscription's
  /// period without an end gives no access and counts from its start.
  private var rankedEnd: Milliseconds {
    if let end = graceEnd ?? periodEnd { return end }
    return productType == .autoRenewable ? periodStart : Milliseconds(.max)
  }
}

extension DetailedStatus {
  /// Active and grace outside the catalog rank this much lower: between grace and billing retry.
  fileprivate static let unknownRanks = 2

  /// The rank; 0 is the best (R28).
  fileprivate var rank: Int {
    switch self {
    case .active: 0
    case .grace: 1
    case .billingRetry: 4
    case .expired: 5
    case .replaced: 6
    case .upcoming: 7
    case .revoked: 8
    case .undetermined: 9
    case .consumed: 10
    }
  }
}
