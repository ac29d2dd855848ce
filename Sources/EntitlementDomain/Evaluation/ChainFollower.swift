/// A chain before and from a moment on.
struct ChainStep {
  let chain: SubscriptionChain
  let moment: Milliseconds
  /// The period that decides the chain.
  let before: Period
  let after: Period
  let outcomeBefore: SubscriptionChain.Outcome
  let outcome: SubscriptionChain.Outcome
  fileprivate let previous: Milliseconds
  /// Of a busy chain; see ``ChainFollower/Busy``.
  fileprivate let busy: ChainFollower.Busy?

  /// The subscription group of the chain (R59).
  func group(in table: FactTable) -> SubscriptionGroupID? { group(of: after, in: table) }

  func groupBefore(in table: FactTable) -> SubscriptionGroupID? { group(of: before, in: table) }

  private func group(of period: Period, in table: FactTable) -> SubscriptionGroupID? {
    guard let busy else { return chain.groupID(of: period, in: table) }
    return chain.ownGroupID(of: period, in: table) ?? busy.groupOfOthers
  }

  /// The index of the period that represents a product while another product decides the chain.
  ///
  /// - Parameter slot: the position in ``SubscriptionChain/products``.
  func followed(_ slot: Int) -> Int {
    busy.map { $0.latest[slot].index } ?? chain.followedIndex(of: slot, at: moment)
  }

  func followedBefore(_ slot: Int) -> Int {
    busy.map { $0.latestBefore[slot].index } ?? chain.followedIndex(of: slot, at: previous)
  }

  /// Of a busy chain: what was charged ahead.
  var ahead: ChargedAheadCache? { busy?.ahead }

  var usesTrial: Bool { usesTrial(at: moment) }
  var usesIntroductoryOffer: Bool { usesIntroductoryOffer(at: moment) }

  /// Whether a trial was used by a moment.
  func usesTrial(at moment: Milliseconds) -> Bool {
    busy.map { $0.firstTrial <= moment } ?? chain.usesTrial(at: moment)
  }

  func usesIntroductoryOffer(at moment: Milliseconds) -> Bool {
    busy.map { $0.firstIntroductory <= moment } ?? chain.usesIntroductoryOffer(at: moment)
  }
}

/// Follows one chain through its boundaries.
struct ChainFollower {
  private let chain: SubscriptionChain
  private var now: Milliseconds
  private var period: Period
  private var outcome: SubscriptionChain.Outcome
  private var busy: Busy?

  /// What makes a step of a chain with n periods take O(log n). Without it, a step takes O(n), and the
  /// first one less.
  struct Busy {
    fileprivate var course: ChainCourse
    fileprivate let groupOfOthers: SubscriptionGroupID?
    fileprivate let ahead = ChargedAheadCache()
    /// When the first offer is used; the end of time for none.
    fileprivate var firstTrial = Milliseconds(.max)
    fileprivate var firstIntroductory = Milliseconds(.max)
    /// By position in ``SubscriptionChain/products``: the latest period that has begun, else the
    /// first.
    fileprivate var latest: [Latest]
    /// Before the latest step.
    fileprivate var latestBefore: [Latest]
    /// The positions at which the two may differ.
    private var changed: [Int] = []

    fileprivate struct Latest {
      let index: Int
      let hasBegun: Bool
    }

    fileprivate init(_ chain: SubscriptionChain, in table: FactTable, at now: Milliseconds) {
      course = ChainCourse(of: chain, at: now)
      groupOfOthers = chain.groupIDOfOtherPeriods(in: table)
      latest = chain.productPeriods(at: now).map {
        Latest(index: $0.followed, hasBegun: $0.hasBegun)
      }
      latestBefore = latest
      for period in chain.periods {
        if period.usesTrial { firstTrial = min(firstTrial, period.accessStart) }
        if period.usesIntroductoryOffer {
          firstIntroductory = min(firstIntroductory, period.accessStart)
        }
      }
    }

    fileprivate mutating func advance(_ chain: SubscriptionChain, to moment: Milliseconds) {
      for slot in changed { latestBefore[slot] = latest[slot] }
      changed.removeAll(keepingCapacity: true)
      for index in course.advance(to: moment) {
        let slot = Int(chain.periods[index].productInChain)
        if latest[slot].hasBegun, latest[slot].index > index { continue }
        latest[slot] = Latest(index: index, hasBegun: true)
        changed.append(slot)
      }
    }
  }

  init(_ chain: SubscriptionChain, in history: History, at now: Milliseconds, isBusy: Bool) {
    self.chain = chain
    self.now = now
    let busy = isBusy ? Busy(chain, in: history.table, at: now) : nil
    period = busy?.course.decisivePeriod ?? chain.decisivePeriod(in: history.table, at: now)
    self.busy = busy
    outcome = chain.outcome(of: period, leeway: history.renewalLeeway, at: now)
  }

  /// - Parameter moment: a boundary of the chain, not before that of the former step.
  mutating func step(to moment: Milliseconds, in history: History) -> ChainStep {
    let (before, outcomeBefore, previous) = (period, outcome, now)
    busy?.advance(chain, to: moment)
    period = busy?.course.decisivePeriod ?? chain.decisivePeriod(in: history.table, at: moment)
    now = moment
    outcome = chain.outcome(of: period, leeway: history.renewalLeeway, at: moment)
    return ChainStep(
      chain: chain, moment: moment, before: before, after: period, outcomeBefore: outcomeBefore,
      outcome: outcome, previous: previous, busy: busy)
  }
}

/// How many chains tell what a group tells of all its chains together. Counted only once a chain
/// changes its group, which is rare.
struct GroupMemberships {
  private struct Counts {
    /// The chains with the group's first purchase.
    var earliest = 0
    var trials = 0
    var introductoryOffers = 0
  }

  /// By position in the groups of the state.
  private var counts: [Counts]
  private let positions: [SubscriptionGroupID: Int]
  /// Offers are counted up to this moment at least.
  private let createdAt: Milliseconds

  /// - Parameters:
  ///   - previous: the moment before; the groups are those of it.
  ///   - moment: the moment at which the first chain changes its group; offers count up to it.
  init(
    _ history: History, groups: [GroupState], at previous: Milliseconds,
    offersUntil moment: Milliseconds,
    check: inout CancellationCheck
  ) throws(EvaluationCancelled) {
    counts = Array(repeating: Counts(), count: groups.count)
    positions = Dictionary(
      groups.enumerated().map { ($0.element.groupID, $0.offset) }, uniquingKeysWith: { $1 })
    createdAt = moment
    for chain in history.chains {
      try check.step()
      let period = chain.decisivePeriod(in: history.table, at: previous)
      guard let group = chain.groupID(of: period, in: history.table),
        let position = positions[group]
      else { continue }
      count(
        chain, in: position, of: groups, trial: chain.usesTrial(at: moment),
        introductory: chain.usesIntroductoryOffer(at: moment), by: 1)
    }
  }

  private mutating func count(
    _ chain: SubscriptionChain, in position: Int, of groups: [GroupState], trial: Bool,
    introductory: Bool, by number: Int
  ) {
    if chain.firstPurchaseAt == groups[position].standing.firstPurchaseAt {
      counts[position].earliest += number
    }
    if trial { counts[position].trials += number }
    if introductory { counts[position].introductoryOffers += number }
  }

  /// - Parameter touched: gets the positions of the groups whose counts may have changed.
  mutating func move(
    _ step: ChainStep, in table: FactTable, groups: [GroupState], touched: inout Set<Int>
  ) {
    if let position = step.groupBefore(in: table).flatMap({ positions[$0] }) {
      let counted = max(step.previous, createdAt)
      count(
        step.chain, in: position, of: groups, trial: step.usesTrial(at: counted),
        introductory: step.usesIntroductoryOffer(at: counted), by: -1)
      touched.insert(position)
    }
    if let position = step.group(in: table).flatMap({ positions[$0] }) {
      count(
        step.chain, in: position, of: groups, trial: step.usesTrial,
        introductory: step.usesIntroductoryOffer, by: 1)
      touched.insert(position)
    }
  }

  /// Whether a group tells something of all its chains that none of them tells any more.
  func differ(from shown: GroupState, group position: Int) -> Bool {
    let counts = counts[position]
    return counts.earliest == 0 || shown.trialUsed && counts.trials == 0
      || shown.introductoryOfferUsed && counts.introductoryOffers == 0
  }
}

extension SubscriptionChain {
  /// The index of the period that represents a product which does not decide the chain.
  ///
  /// - Parameter slot: the position in ``products``.
  fileprivate func followedIndex(of slot: Int, at now: Milliseconds) -> Int {
    var first = periods.startIndex
    for index in periods.indices.reversed() where periods[index].productInChain == slot {
      if periods[index].accessStart <= now { return index }
      first = index
    }
    return first
  }

  func usesTrial(at now: Milliseconds) -> Bool {
    periods.contains { $0.usesTrial && $0.accessStart <= now }
  }

  func usesIntroductoryOffer(at now: Milliseconds) -> Bool {
    periods.contains { $0.usesIntroductoryOffer && $0.accessStart <= now }
  }
}
