/// Computes what a customer may use (R1): a pure function of the record's facts, the catalog and
/// the moment. Rules are cited by their numbers.
package enum Evaluation {
  /// - Parameter now: the moment asked about. It may lie in the past or the future: facts known
  ///   today are taken as they are.
  package static func state(
    of record: CustomerRecord, catalog: Catalog, at now: Milliseconds
  ) -> CustomerState {
    evaluate(record, catalog: catalog, at: now).state
  }

  /// The state, and since when it may have been the same.
  package struct Outcome: Hashable, Sendable {
    package let state: CustomerState
    /// The latest moment up to now at which time alone may have changed the answer; nil when there
    /// was none.
    package let lastBoundaryAt: Milliseconds?
  }

  /// As ``state(of:catalog:at:)``, with what tells whether an earlier answer still holds.
  package static func evaluate(
    _ record: CustomerRecord, catalog: Catalog, at now: Milliseconds
  ) -> Outcome {
    let facts = FactSet(record.facts, in: record.scope)
    var moments = TransitionMoments(around: now)
    var state = state(of: facts, record: record, catalog: catalog, at: now, moments: &moments)
    state.nextTransitionAt = nextTransition(
      of: state, facts: facts, record: record, catalog: catalog, moments: moments)
    return Outcome(state: state, lastBoundaryAt: moments.latestPast)
  }

  /// R30. Every moment at which a rule may decide otherwise was noted on the way; the first at
  /// which the answer really differs counts.
  private static func nextTransition(
    of state: CustomerState, facts: FactSet, record: CustomerRecord, catalog: Catalog,
    moments: TransitionMoments
  ) -> Milliseconds? {
    for moment in moments.later() {
      var ignored = TransitionMoments(around: moment)
      var later = Self.state(
        of: facts, record: record, catalog: catalog, at: moment, moments: &ignored)
      later.evaluatedAt = state.evaluatedAt
      if later != state { return moment }
    }
    return nil
  }

  private static func state(
    of facts: FactSet, record: CustomerRecord, catalog: Catalog, at now: Milliseconds,
    moments: inout TransitionMoments
  ) -> CustomerState {
    let context = EvaluationContext(catalog: catalog, now: now)
    var products = ProductTally(context: context)
    var groups = GroupTally(context: context)
    var entitlements = EntitlementTally(context: context)

    for chain in facts.subscriptionChains {
      moments.note(chain.moments(in: context))
      let standing = chain.standing(in: context)
      groups.add(chain, standing: standing)
      for productID in chain.productIDs {
        products.add(
          chain.standing(of: productID, chainStanding: standing, in: context),
          groupID: chain.groupID(in: context))
      }
      if let source = chain.source(for: standing, in: context) {
        entitlements.add(source)
      }
    }
    for purchases in facts.oneTimePurchases {
      let windows = purchases.windows(in: context)
      moments.note(purchases.moments(of: windows))
      products.add(purchases.standing(of: windows, in: context), groupID: nil)
      for source in purchases.sources(of: windows, in: context) {
        entitlements.add(source)
      }
    }

    let productStates = products.states()
    let groupStates = groups.states()
    let coreState = coreState(facts: facts, products: productStates)
    return CustomerState(
      scope: record.scope, accountID: record.accountID, revision: record.revision,
      evaluatedAt: now, coreState: coreState,
      callsToAction: callsToAction(
        facts: facts, products: productStates, groups: groupStates),
      entitlements: entitlements.states(), products: productStates, groups: groupStates,
      nextTransitionAt: nil)
  }

  /// R27. A product that the catalog does not name grants nothing by itself (R10, R14), so it does
  /// not make the customer active either.
  private static func coreState(facts: FactSet, products: [ProductState]) -> CoreState {
    if facts.isEmpty { return .new }
    let isActive = products.contains { $0.isInCatalog && $0.standing.coreState == .active }
    return isActive ? .active : .inactive
  }

  /// R29: the calls of every group, and of every product outside the groups. Who has bought
  /// nothing yet is shown the offers, also when the purchase of the app itself is known.
  private static func callsToAction(
    facts: FactSet, products: [ProductState], groups: [GroupState]
  ) -> [CallToAction] {
    if facts.hasNoPurchase { return [.merchandise] }
    let groupIDs = Set(groups.map(\.groupID))
    var calls = Set(groups.map(\.standing.callToAction))
    for product in products {
      if let groupID = product.groupID, groupIDs.contains(groupID) { continue }
      calls.insert(product.standing.callToAction)
    }
    let urgent = CallToAction.mostUrgentFirst.filter(calls.contains)
    return urgent.isEmpty ? [.none] : urgent
  }
}

extension CallToAction {
  /// Every call but `.none`, in the order in which a customer should hear of them.
  static let mostUrgentFirst: [CallToAction] = [
    .fixBilling, .consentToPrice, .keepSubscription, .winBack, .merchandise,
  ]
}

/// What every rule may look at beside the facts.
struct EvaluationContext {
  let catalog: Catalog
  let now: Milliseconds
}

/// The moments at which an answer may change (R30).
struct TransitionMoments {
  private let now: Milliseconds
  private var upcoming: Set<Milliseconds> = []
  /// The latest of those that are not later than now.
  private(set) var latestPast: Milliseconds?

  init(around now: Milliseconds) {
    self.now = now
  }

  mutating func note(_ candidates: some Sequence<Milliseconds>) {
    for moment in candidates {
      if moment > now {
        upcoming.insert(moment)
      } else {
        latestPast = max(latestPast ?? moment, moment)
      }
    }
  }

  func later() -> [Milliseconds] { upcoming.sorted() }
}
