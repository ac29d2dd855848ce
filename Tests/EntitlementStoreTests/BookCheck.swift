import EntitlementDomain
import EntitlementStore

/// What has to hold of a book after every write.
struct BookCheck {
  let book: Book
  let before: Book

  init(_ book: Book, before: Book) {
    self.book = book
    self.before = before
  }

  func problems(after write: BookWrite, _ outcome: BookWrite.Outcome) -> [String] {
    owners + histories + revisions + customers(told: outcome)
      + changes(after: write) + claims(at: write.at)
  }

  /// What somebody claimed stays counted for a day, under every name (R44).
  private func claims(at now: Milliseconds) -> [String] {
    before.accounts.compactMap { account, former in
      var counted = ClaimWindow()
      counted.add(ClaimWindow(count: former.claims, since: former.claimsSince), at: now)
      let owner = book.account(account)?.mergedInto ?? account.id
      let row = book.account(ScopedAccount(account.scope, owner))
      return row?.claims ?? 0 < counted.count ? "\(account.id) lost claims" : nil
    }
  }

  /// Whoever owns something is known, was not merged into another, and is not deleted.
  private var owners: [String] {
    var problems: [String] = []
    func expectOwner(_ account: AccountID?, in scope: AppScope, _ what: String) {
      guard let account else { return }
      let row = book.account(ScopedAccount(scope, account))
      if row == nil { problems.append("\(what) is of \(account), who is not known") }
      if row?.isDeleted == true { problems.append("\(what) is of \(account), who is deleted") }
      if row?.mergedInto != nil { problems.append("\(what) is of \(account), who is merged") }
    }
    for (target, row) in book.links {
      expectOwner(row.account, in: target.scope, "\(target.target)")
      if row.account != nil, row.isDetached { problems.append("\(target.target) is detached") }
      if row.account == nil, row.isUnsigned { problems.append("\(target.target) is unsigned") }
    }
    for (token, account) in book.tokens { expectOwner(account, in: token.scope, "\(token.token)") }
    for grant in book.grants.values {
      expectOwner(grant.accountID, in: grant.scope, "\(grant.id)")
    }
    for (account, row) in book.accounts {
      expectOwner(row.mergedInto, in: account.scope, "\(account.id)")
      if row.isDeleted, book.holdings(of: account) != AccountHoldings() {
        problems.append("\(account.id) is deleted and has something")
      }
    }
    for fact in book.facts {
      guard case .chain = fact.value.target else { continue }
      let target = ScopedTarget(fact.key.scope, fact.value.target)
      if book.link(of: target) == nil { problems.append("\(target.target) has no row") }
    }
    return problems
  }

  /// Each step begins where the one before ended, and the last ends at the owner.
  private var histories: [String] {
    var problems: [String] = []
    for (target, row) in book.links where row.account != nil && book.history[target] == nil {
      problems.append("\(target.target) has an owner and no history")
    }
    for (target, events) in book.history {
      var holder: (account: AccountID?, isErased: Bool) = (nil, false)
      for event in events {
        if event.from != holder.account || event.isFromErased != holder.isErased {
          problems.append("\(target.target): a step begins elsewhere")
        }
        holder = (event.to, event.isToErased)
      }
      if holder.isErased || holder.account != book.link(of: target)?.account {
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

  /// The revision of a customer is the number of its last change.
  private var revisions: [String] {
    var last: [CustomerSubject: Int64] = [:]
    for change in book.feed where change.kinds.movesRevision {
      if let subject = change.subject { last[subject] = change.sequence }
    }
    var problems: [String] = []
    for (account, row) in book.accounts
    where row.revision != last[.account(account.scope, account.id)] ?? 0 {
      problems.append("the revision of \(account.id)")
    }
    for (target, row) in book.links {
      guard case .chain(let chain) = target.target else { continue }
      if row.revision != last[.unlinkedChain(target.scope, chain)] ?? 0 {
        problems.append("the revision of \(chain)")
      }
    }
    return problems
  }

  /// Whoever is told of is told as it stands; each once.
  private func customers(told outcome: BookWrite.Outcome) -> [String] {
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
        case .account(let scope, let id): book.account(ScopedAccount(scope, id))?.revision
        case .unlinkedChain(let scope, let chain):
          book.link(of: ScopedTarget(scope, .chain(chain)))?.revision
        }
      if customer.revision != revision { problems.append("told wrongly: \(customer)") }
    }
    return problems
  }

  // MARK: Changes

  /// Everybody whose belongings changed has a new change, and nobody else has one.
  private func changes(after write: BookWrite) -> [String] {
    let new = book.feed.dropFirst(before.feed.count)
    let told = Set(new.filter { $0.kinds.movesRevision }.compactMap(\.subject))
    let causes = changedLinks.union(changedFacts).union(changedGrants).union(changedAccounts)
    // A transaction may come in two versions at once, and move between chains by the second.
    let passing =
      if case .submission(let submission) = write {
        submission.facts.flatMap { holders(of: $0.fact.target, in: $0.fact.scope) }
      } else {
        [CustomerSubject]()
      }
    return told.subtracting(causes.union(passing)).map { "told without a cause: \($0)" }
      + causes.subtracting(told).map { "not told: \($0)" }
  }

  private var changedLinks: Set<CustomerSubject> {
    var subjects: Set<CustomerSubject> = []
    for target in Set(book.links.keys).union(before.links.keys) {
      let (former, latter) = (before.link(of: target), book.link(of: target))
      if former?.account == latter?.account { continue }
      for account in [former?.account, latter?.account].compactMap(\.self) {
        subjects.insert(.account(target.scope, account))
      }
      // A chain was a customer of its own, or is one now.
      let wasUnlinked = former != nil && former?.account == nil
      if case .chain(let chain) = target.target, wasUnlinked || latter?.account == nil {
        subjects.insert(.unlinkedChain(target.scope, chain))
      }
    }
    return subjects
  }

  private var changedFacts: Set<CustomerSubject> {
    var subjects: Set<CustomerSubject> = []
    for (key, fact) in book.facts where fact != before.facts[key] {
      for target in [fact.target, before.facts[key]?.target].compactMap(\.self) {
        subjects.formUnion(holders(of: target, in: key.scope))
      }
    }
    return subjects
  }

  private func holders(of target: LinkTarget, in scope: AppScope) -> [CustomerSubject] {
    if let account = book.link(of: ScopedTarget(scope, target))?.account {
      return [.account(scope, account)]
    }
    guard case .chain(let chain) = target else { return [] }
    return [.unlinkedChain(scope, chain)]
  }

  private var changedGrants: Set<CustomerSubject> {
    let ids = Set(book.grants.keys).union(before.grants.keys)
    let changed = ids.filter { book.grants[$0] != before.grants[$0] }
    let grants = changed.flatMap { [book.grants[$0], before.grants[$0]].compactMap(\.self) }
    return Set(grants.map { .account($0.scope, $0.accountID) })
  }

  private var changedAccounts: Set<CustomerSubject> {
    var subjects: Set<CustomerSubject> = []
    for (account, row) in book.accounts {
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
