/// How every part of a history stands at one moment, and the state that follows from it: what the
/// sentences of an explanation are read from.
struct Situation {
  let history: History
  /// At ``now``; its next transition is of no concern.
  let state: CustomerState
  /// How each chain of the history stands, by its position.
  let verdicts: [SubscriptionChain.Verdict]
  private let conferring: ConferringProducts
  private let sources: [EntitlementID: [EntitlementSource]]

  init(history: History, state: CustomerState) {
    self.init(
      history: history, state: state, conferring: ConferringProducts(in: history.evidence))
  }

  /// The same history at another moment.
  func at(_ state: CustomerState) -> Situation {
    Situation(history: history, state: state, conferring: conferring)
  }

  private init(history: History, state: CustomerState, conferring: ConferringProducts) {
    self.history = history
    self.state = state
    self.conferring = conferring
    sources = Dictionary(state.entitlements.map { ($0.entitlementID, $0.sources) }) { first, _ in
      first
    }
    verdicts = history.chains.map { $0.verdict(in: history, at: state.evaluatedAt) }
  }

  var now: Milliseconds { state.evaluatedAt }
  var evidence: Evidence { history.evidence }

  /// What confers an entitlement now, the first source first; empty when nothing does.
  func sources(of entitlement: EntitlementID) -> [EntitlementSource] {
    sources[entitlement] ?? []
  }

  func group(_ id: SubscriptionGroupID) -> GroupState? {
    state.groups.first { $0.groupID == id }
  }

  /// Positions of the chains that stand in a group, by id.
  func chains(in group: SubscriptionGroupID) -> [Int] {
    history.chains.indices.filter { position in
      history.chains[position].groupID(of: verdicts[position].period, in: evidence) == group
    }
  }

  func confers(_ product: Int, _ entitlement: EntitlementID) -> Bool {
    conferring.confers(product, entitlement)
  }
}
