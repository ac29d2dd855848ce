import EntitlementDomain
import EntitlementStore

/// Invariants of a model after every write.
struct ModelCheck {
  let model: ModelStore
  let before: ModelStore

  init(_ model: ModelStore, before: ModelStore) {
    self.model = model
    self.before = before
  }

  func problems(after write: ModelWrite, _ outcome: ModelWrite.Outcome) -> [String] {
    owners + histories + revisions + customers(told: outcome)
      + changes(after: write) + claims(at: write.at)
  }

  /// Claims stay counted for a day, under every alias (R44).
  private func claims(at now: Milliseconds) -> [String] {
    before.accounts.compactMap { account, former in
      var counted = ClaimWindow()
      counted.add(ClaimWindow(count: former.claims, since: former.claimsSince), at: now)
      let owner = model.account(account)?.mergedInto ?? account.id
      let row = model.account(ScopedAccount(account.scope, owner))
      return row?.claims ?? 0 < counted.count ? "\(account.id) lost claims" : nil
    }
  }

  /// The account of a link is known, not merged and not deleted.
  private var owners: [String] {
    var problems: [String] = []
    func expectOwner(_ account: AccountID?, in scope: AppScope, _ what: String) {
      guard let account else { return }
      let row = model.account(ScopedAccount(scope, account))
      if row == nil { problems.append("\(what) is of \(account), who is not known") }
      if row?.isDeleted == true { problems.append("\(what) is of \(account), who is deleted") }
      if row?.mergedInto != nil { problems.append("\(what) is of \(account), who is merged") }
    }
    for (target, row) in model.links {
      expectOwner(row.account, in: target.scope, "\(target.target)")
      if row.account != nil, row.isDetached { problems.append("\(target.target) is detached") }
      if row.account == nil, row.standing != .named {
        problems.append("\(target.target) is unlinked and \(row.standing)")
      }
      if row.account == nil, row.isUnsigned { problems.append("\(target.target) is unsigned") }
    }
    for (token, row) in model.tokens {
      expectOwner(row.account, in: token.scope, "\(token.token)")
      if row.account == nil, row.state != .ambiguous {
        problems.append("\(token.token) is of none")
      }
    }
    for grant in model.grants.values {
      expectOwner(grant.accountID, in: grant.scope, "\(grant.id)")
    }
    for (account, row) in model.accounts {
      let chains = model.holdings(of: account).targets.count {
        if case .chain = $0 { true } else { false }
      }
      if row.chains != chains {
        problems.append("\(account.id) has \(chains) chains, not \(row.chains)")
      }
      expectOwner(row.mergedInto, in: account.scope, "\(account.id)")
      if row.isDeleted, model.holdings(of: account) != AccountHoldings() {
        problems.append("\(account.id) is deleted and has something")
      }
    }
    for fact in model.facts {
      guard case .chain = fact.value.target else { continue }
      let target = ScopedTarget(fact.key.scope, fact.value.target)
      if model.link(of: target) == nil { problems.append("\(target.target) has no row") }
    }
    return problems
  }

  /// Each event starts at the account where the previous one ended, and the last one ends at the
  /// owner.
  private var histories: [String] {
    var problems: [String] = []
    for (target, row) in model.links where row.account != nil && model.history[target] == nil {
      problems.append("\(target.target) has an owner and no history")
    }
    for (target, events) in model.history {
      var holder: (account: AccountID?, isErased: Bool) = (nil, false)
      for event in events {
        if event.from != holder.account || event.isFromErased != holder.isErased {
          problems.append("\(target.target): a step begins elsewhere")
        }
        holder = (event.to, event.isToErased)
      }
      if holder.isErased || holder.account != model.link(of: target)?.account {
        problems.append("\(target.target): the last step ends elsewhere")
      }
      for event in events where event.author == nil {
        switch event.reason {
        case .assigned, .unassigned, .transferred, .deleted:
          problems.append("\(target.target): nobody did what somebody asked for")
        default: break
        }
      }
    }
    return problems
  }

  /// The revision of a customer is the number of its latest change.
  private var revisions: [String] {
    var last: [CustomerSubject: Int64] = [:]
    for change in model.feed where change.kinds.increasesRevision {
      if let subject = change.subject { last[subject] = change.sequence }
    }
    var problems: [String] = []
    for (account, row) in model.accounts
    where row.revision != last[.account(account.scope, account.id)] ?? 0 {
      problems.append("the revision of \(account.id)")
    }
    for (target, row) in model.links {
      guard case .chain(let chain) = target.target else { continue }
      if row.revision != last[.unlinkedChain(target.scope, chain)] ?? 0 {
        problems.append("the revision of \(chain)")
      }
    }
    return problems
  }

  /// A receipt lists each customer once, with the stored revision.
  private func customers(told outcome: ModelWrite.Outcome) -> [String] {
    let told: [CustomerRevision] =
      switch outcome {
      case .commit(let receipt): receipt.customers
      case .grant(let receipt): [receipt?.customer].compactMap(\.self)
      case .request(.done(let receipt)): receipt.customers
      case .request(.refused): []
      }
    var problems: [String] = []
    if Set(told.map(\.subject)).count != told.count { problems.append("told twice") }
    for customer in told {
      let revision: Int64? =
        switch customer.subject {
        case .account(let scope, let id): model.account(ScopedAccount(scope, id))?.revision
        case .unlinkedChain(let scope, let chain):
          model.link(of: ScopedTarget(scope, .chain(chain)))?.revision
        }
      if customer.revision != revision { problems.append("told wrongly: \(customer)") }
    }
    return problems
  }

  // MARK: Changes

  /// Exactly the customers whose facts, links or grants changed have a new change.
  private func changes(after write: ModelWrite) -> [String] {
    let new = model.feed.dropFirst(before.feed.count)
    let told = Set(new.filter { $0.kinds.increasesRevision }.compactMap(\.subject))
    let causes = changedLinks.union(changedFacts).union(changedGrants).union(changedAccounts)
    // A transaction may have two versions in one submission, and the second may move it to another
    // chain.
    let passing =
      if case .submission(let submission) = write {
        submission.facts.flatMap { holders(of: $0.fact.target, in: $0.fact.scope) }
      } else {
        [CustomerSubject]()
      }
    return told.subtracting(causes.union(passing).union(changedHints)).map {
      "told without a cause: \($0)"
    }
      + causes.subtracting(told).map { "not told: \($0)" }
  }

  /// The accounts that a changed token or app transaction found, or finds now (R71).
  private var changedHints: Set<CustomerSubject> {
    var subjects: Set<CustomerSubject> = []
    for token in Set(model.tokens.keys).union(before.tokens.keys)
    where model.tokens[token] != before.tokens[token] {
      for row in [model.tokens[token], before.tokens[token]] {
        if let account = row?.account { subjects.insert(.account(token.scope, account)) }
      }
    }
    for (target, row) in model.links where row.standing != before.link(of: target)?.standing {
      for account in [row.account, before.link(of: target)?.account].compactMap(\.self) {
        subjects.insert(.account(target.scope, account))
      }
    }
    return subjects
  }

  private var changedLinks: Set<CustomerSubject> {
    var subjects: Set<CustomerSubject> = []
    for target in Set(model.links.keys).union(before.links.keys) {
      let (former, latter) = (before.link(of: target), model.link(of: target))
      if former?.account == latter?.account { continue }
      for account in [former?.account, latter?.account].compactMap(\.self) {
        subjects.insert(.account(target.scope, account))
      }
      // A chain was an unlinked customer, or is one now.
      let wasUnlinked = former != nil && former?.account == nil
      if case .chain(let chain) = target.target, wasUnlinked || latter?.account == nil {
        subjects.insert(.unlinkedChain(target.scope, chain))
      }
    }
    return subjects
  }

  private var changedFacts: Set<CustomerSubject> {
    var subjects: Set<CustomerSubject> = []
    for (key, fact) in model.facts {
      // Versions of the past change no present answer, and are not told.
      var former = before.facts[key]
      former?.history = fact.history
      if fact == former { continue }
      for target in [fact.target, before.facts[key]?.target].compactMap(\.self) {
        subjects.formUnion(holders(of: target, in: key.scope))
      }
    }
    return subjects
  }

  private func holders(of target: LinkTarget, in scope: AppScope) -> [CustomerSubject] {
    if let account = model.link(of: ScopedTarget(scope, target))?.account {
      return [.account(scope, account)]
    }
    guard case .chain(let chain) = target else { return [] }
    return [.unlinkedChain(scope, chain)]
  }

  private var changedGrants: Set<CustomerSubject> {
    let ids = Set(model.grants.keys).union(before.grants.keys)
    let changed = ids.filter { model.grants[$0] != before.grants[$0] }
    let grants = changed.flatMap { [model.grants[$0], before.grants[$0]].compactMap(\.self) }
    return Set(grants.map { .account($0.scope, $0.accountID) })
  }

  private var changedAccounts: Set<CustomerSubject> {
    var subjects: Set<CustomerSubject> = []
    for (account, row) in model.accounts {
      let former = before.account(account)
      if former?.isDeleted == false, row.isDeleted {
        subjects.insert(.account(account.scope, account.id))
      }
      if former?.mergedInto == nil, let other = row.mergedInto {
        subjects.insert(.account(account.scope, account.id))
        subjects.insert(.account(account.scope, other))
      }
    }
    return subjects
  }
}
