/// How the subscription that a notification names stands by the facts, as of the notification's
/// `signedDate`, beside what the notification says of it.
struct ReviewedChain {
  private let content: ReviewedContent
  private let standing: Standing
  /// No fact of the chain was signed after the notification: it is the latest news.
  private let isLatestNews: Bool

  /// Nil when the notification names no auto-renewable subscription, or no moment.
  init?(_ content: ReviewedContent, in scope: AppScope, facts: [Fact], catalog: Catalog) {
    guard let chain = content.chain, let moment = content.signedDate else { return nil }
    let facts = facts.filter { $0.chain == chain && $0.scope == scope }
    // The leeway is the operator's kindness (R24), of which Apple knows nothing.
    var catalog = catalog
    catalog.renewalLeeway = 0
    let state = Evaluation.state(
      of: CustomerRecord(scope: scope, facts: facts), catalog: catalog, at: moment)
    guard let standing = Self.standing(in: state) else { return nil }
    self.content = content
    self.standing = standing
    // What the notification itself brought may be stamped a little later than its outside.
    isLatestNews = facts.allSatisfy {
      $0.precedence.signedDate <= moment || content.digests.contains($0.digest)
    }
  }

  /// One chain is in one group; in none when neither its transactions nor the catalog name one.
  /// Then the product that stands best decides, as it would in a group (R28).
  private static func standing(in state: CustomerState) -> Standing? {
    if let group = state.groups.first { return group.standing }
    return state.products.map(\.standing)
      .filter { $0.productType == .autoRenewable }
      .min { $0.status.rawValue < $1.status.rawValue }
  }

  /// R17.
  var isSuccessorMissing: Bool { standing.notices.contains(.successorMissing) }

  /// R47: both views, when they differ.
  ///
  /// Only the latest news can be compared: what was signed later may have changed what the facts
  /// say of the notification's moment, and explains the difference. There is no tolerance at the
  /// boundaries of periods: at the very end of a period both say that it is over (R15), and a
  /// status that Apple found some seconds earlier or later than it stamped the notification costs
  /// one refetch, where a tolerance would hide real differences.
  var statusMismatch: String? {
    guard isLatestNews, let told else { return nil }
    if SubscriptionStatus(standing.status) == told { return nil }
    return "Apple says \(told.name), the facts say \(standing.status.name)"
  }

  /// A renewal is overdue (R24), and the notification says nothing of the subscription's state that
  /// would explain it.
  var isRenewalUnexplained: Bool {
    guard isLatestNews, told == nil else { return false }
    switch content.type {
    case .expired, .didFailToRenew, .gracePeriodExpired: return false
    default: return standing.notices.contains(.renewalOverdue)
    }
  }

  /// Apple's view, where it is one that is known.
  private var told: SubscriptionStatus? {
    content.status.flatMap(SubscriptionStatus.init(rawValue:))
  }
}

extension DetailedStatus {
  /// For people: `GRACE`.
  fileprivate var name: String {
    if let status = SubscriptionStatus(self) { return status.name }
    switch self {
    case .replaced: return "REPLACED"
    case .upcoming: return "UPCOMING"
    case .consumed: return "CONSUMED"
    default: return "UNDETERMINED"
    }
  }
}
