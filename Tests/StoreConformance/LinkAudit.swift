import EntitlementDomain
import EntitlementStore

/// Invariants of links after concurrent claims and requests (R41, R45, R46): all reads of the store
/// agree, and the history explains the links.
struct LinkAudit {
  let store: any EntitlementStore
  let chains: [OriginalTransactionID]
  /// Every account id in use, including merged ones.
  let names: [AccountID]

  /// - Returns: the history of each chain.
  @discardableResult
  func check() async throws -> [OriginalTransactionID: [LinkEvent]] {
    var histories: [OriginalTransactionID: [LinkEvent]] = [:]
    var held: [AccountID: Set<LinkTarget>] = [:]
    for chain in chains {
      let history = try await store.history(of: .chain(chain))
      try checkHands(history, of: chain)
      let owner = try await store.account(of: chain)
      let last = history.last
      if last?.isToErased != true { try expectEqual(owner, last?.to, "owner of \(chain)") }
      if let owner { held[owner, default: []].insert(.chain(chain)) }
      histories[chain] = history
    }
    let listed = try await store.accounts(in: readerScope, after: nil, limit: 10_000)
    for summary in listed {
      let targets = try await store.links(of: summary.accountID)
      let links = Set(targets)
      try expectEqual(targets.count, links.count, "doubled links of \(summary.accountID)")
      try expectEqual(links, held[summary.accountID] ?? [], "links of \(summary.accountID)")
      try expectEqual(summary.chainCount, links.count, "chains of \(summary.accountID)")
    }
    try expect(
      Set(held.keys).isSubset(of: listed.map(\.accountID)), "an owner is merged, or deleted")
    let free = try await store.unlinkedChains(in: readerScope, after: nil, limit: 10_000)
    try expectEqual(
      Set(free.map { LinkTarget.chain($0.chain) }),
      Set(chains.map { .chain($0) }).subtracting(held.values.reduce([]) { $0.union($1) }),
      "chains without an account")
    try await checkRevisions()
    return histories
  }

  /// The `from` of each event is the owner after the event before it.
  private func checkHands(_ history: [LinkEvent], of chain: OriginalTransactionID) throws {
    var former: LinkEvent?
    for event in history {
      if let former, !former.isToErased, !event.isFromErased {
        try expectEqual(event.from, former.to, "hands of \(chain): \(history)")
      }
      if former == nil { try expectEqual(event.from, nil, "first owner of \(chain)") }
      try expect(
        event.from != event.to || event.isFromErased || event.isToErased,
        "an event of \(chain) moves nothing")
      former = event
    }
  }

  /// The revision of each customer is the number of its last change in the feed, and revisions
  /// grow.
  private func checkRevisions() async throws {
    let feed = try await store.feed()
    try expect(
      zip(feed, feed.dropFirst()).allSatisfy { $0.sequence < $1.sequence },
      "the feed is out of order")
    var last: [CustomerSubject: Int64] = [:]
    for change in feed where change.kinds.increasesRevision {
      if let subject = change.subject { last[subject] = change.sequence }
    }
    for name in names {
      let customer = try await store.customer(.account(name))
      // A merged name stands for another account; the last change of the name itself is the merge.
      if customer.record.accountID == name {
        try expectEqual(
          customer.record.revision, last[account(name)] ?? 0, "revision of \(name)")
      } else {
        try expect(
          customer.record.revision >= last[account(name)] ?? 0, "the revision of \(name)")
      }
    }
    for chain in chains where try await store.account(of: chain) == nil {
      try expectEqual(
        try await store.revision(of: .originalTransaction(chain)), last[unlinked(chain)] ?? 0,
        "revision of \(chain)")
    }
  }
}
