package import EntitlementDomain
package import EntitlementStore
package import TestSupport

/// Customers whose purchases move between them at random, and everything that a store tells of that.
package struct LinkHistorySample {
  /// The last one keeps its purchases.
  static let names: [AccountID] = [
    "alice", "bob", "carol", "dave", "anonymous:1", "anonymous:2", "erin",
  ]
  /// The first three have an app transaction each. The last three are those of ``addSettled()``.
  static let chains = (1...8).map { OriginalTransactionID("\($0)") }
  static let targets =
    chains.map { LinkTarget.chain($0) }
    + (1...3).map { LinkTarget.appTransaction(AppTransactionID("90\($0)")) }

  let store: any EntitlementStore
  private var random: SeededRandom
  private var clock: Milliseconds = 5_000

  package init(_ store: any EntitlementStore, _ random: SeededRandom) {
    self.store = store
    self.random = random
  }

  // MARK: Writing

  /// Writes one after the other, or together, so that some share a transaction.
  package mutating func write(_ count: Int, atOnce: Int = 1) async throws {
    var catalog = PolicySample.catalog(.transfer)
    catalog.apps[readerScope.bundleID]?.claimsPerDay = 1_000
    var left = count
    while left > 0 {
      let steps = (0..<min(left, atOnce)).map { _ in step() }
      left -= steps.count
      _ = try await StoreConformanceSuite.inParallel(0..<steps.count) { [store, catalog] number in
        switch steps[number] {
        case .submission(let sample, let account, let at):
          try await store.submit(sample, by: account, at: at, under: catalog)
        case .change(let change, let at):
          _ = try await store.ask(change, at: at, under: catalog)
        }
        return 0
      }
    }
  }

  /// Adds a customer whose purchases stay. One is first known without an account.
  package func addSettled() async throws {
    try await store.submit(TransactionSample("6", "6"), at: 4_000)
    try await store.submit(
      (6...8).map { try TransactionSample("\($0)", "\($0)").signed() }, by: "erin", at: 4_500)
  }

  /// Deletes all accounts whose purchases move.
  ///
  /// - Returns: their ids.
  package func deleteMoving() async throws -> [AccountID] {
    let names = Array(Self.names.dropLast())
    for (offset, name) in names.enumerated() {
      _ = try await store.ask(.delete(name), at: clock.advanced(by: Int64(offset + 1)))
    }
    return names
  }

  private enum Step: Sendable {
    case submission(TransactionSample, AccountID?, Milliseconds)
    case change(LinkRequest.Change, Milliseconds)
  }

  private mutating func number(_ count: Int) -> Int { .random(in: 0..<count, using: &random) }

  private mutating func step() -> Step {
    clock = clock.advanced(by: 1_000)
    let number = number(Self.chains.count - 3)
    let settled = Self.chains.suffix(3).map { LinkTarget.chain($0) }
    let targets = Self.targets.filter { !settled.contains($0) }
    let names = Self.names.dropLast()
    let (target, name, other) = (
      targets[self.number(targets.count)], names[self.number(names.count)],
      names[self.number(names.count)]
    )
    switch self.number(16) {
    case 0: return .change(.unlink(target), clock)
    case 1...2: return .change(.transfer(target, from: nil, to: name), clock)
    case 3: return .change(.link(target, to: name), clock)
    case 4...5: return .change(.merge(name, into: other), clock)
    case 6: return .change(.delete(name), clock)
    default:
      let chain = Self.chains[number]
      // Some transactions have the id of the chain.
      let transactions = [chain.rawValue, "\(chain)0", "\(chain)1"]
      let sample = TransactionSample(transactions[self.number(3)], chain.rawValue).with {
        $0.appTransaction = number < 3 ? AppTransactionID("90\(number + 1)") : nil
        $0.signedAt = 1_000
      }
      return .submission(sample, self.number(4) == 0 ? nil : name, clock)
    }
  }

  // MARK: Reading

  /// All that the store tells of the links and of their history.
  package struct Report: Equatable {
    var links: [AccountID: [LinkedTarget]] = [:]
    var histories: [LinkTarget: [LinkEvent]] = [:]
    var accounts: [AccountID: AccountHistory] = [:]
    var exports: [AccountID: AccountExport] = [:]
    var customers: [String: ResolvedCustomer] = [:]
    var facts: [String: SignedFact] = [:]
  }

  package func report() async throws -> Report {
    var report = Report()
    for target in Self.targets { report.histories[target] = try await store.history(of: target) }
    for name in Self.names {
      report.links[name] = try await store.links(of: name, in: readerScope)
      report.accounts[name] = try await store.history(of: name, in: readerScope)
      report.exports[name] = try await store.export(name, in: readerScope)
    }
    for chain in Self.chains {
      for id in [chain.rawValue, "\(chain)0", "\(chain)1", "\(chain)2"] {
        report.customers[id] = try await store.resolve(
          .transaction(TransactionID(id)), in: readerScope)
        report.facts[id] = try await store.signedFact(
          FactKey(kind: .transaction, identifier: id), in: readerScope)
      }
    }
    return report
  }

  /// Checks that a report agrees with itself: the history of an account has those events of each
  /// target that name it, or an account that was merged into it, once and in their order.
  @discardableResult
  package func check() async throws -> Report {
    let report = try await report()
    var held: [LinkTarget: AccountID] = [:]
    for name in Self.names {
      let events = try await store.linkHistory(of: name, in: readerScope)
      guard let export = report.exports[name] else {
        try expectEqual(events, [], "history of \(name)")
        try expectEqual(report.links[name], [], "links of \(name)")
        continue
      }
      try expectEqual(events, export.linkEvents, "history of \(name)")
      try expectEqual(events, report.accounts[name]?.linkEvents ?? [], "history of \(name)")
      let names = Set(export.merged + [export.accountID])
      var count = 0
      for (target, history) in report.histories {
        let named = history.filter { event in
          [event.from, event.to].compactMap(\.self).contains { names.contains($0) }
        }
        try expectEqual(
          events.filter { $0.target == target }.map(\.event), named, "\(target) of \(name)")
        count += named.count
      }
      try expectEqual(events.count, count, "events of \(name)")
      try expectEqual(
        Set(export.links.map(\.target)).count, export.links.count, "doubled links of \(name)")
      try expectEqual(
        Set(export.facts.map(\.fact.key)).count, export.facts.count, "doubled facts of \(name)")
      if name == export.accountID {
        try expectEqual(
          Set(try await store.customer(.account(name)).record.facts.map(\.key)),
          Set(export.facts.map(\.fact.key)), "facts of \(name)")
      }
      for link in export.links {
        let last = try unwrap(report.histories[link.target]?.last, "event of \(link.target)")
        try expectEqual(last.to, export.accountID, "owner of \(link.target)")
        try expectEqual(last.at, link.since, "since of \(link.target)")
        try expectEqual(last.reason, link.reason, "reason of \(link.target)")
        held[link.target] = export.accountID
      }
    }
    for account in try await store.accounts(in: readerScope, after: nil, limit: 100) {
      let chains = report.links[account.accountID]?.count { $0.target.isChain }
      try expectEqual(account.chainCount, chains, "chains of \(account.accountID)")
    }
    for (target, history) in report.histories {
      try expectEqual(history.last?.to, held[target], "owner of \(target)")
      try expectEqual(history.first?.from, nil, "first owner of \(target)")
      for (former, event) in zip(history, history.dropFirst())
      where !former.isToErased && !event.isFromErased {
        try expectEqual(event.from, former.to, "hands of \(target)")
      }
    }
    return report
  }
}

extension LinkTarget {
  fileprivate var isChain: Bool {
    guard case .chain = self else { return false }
    return true
  }
}
