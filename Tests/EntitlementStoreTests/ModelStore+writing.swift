import EntitlementDomain
import EntitlementStore

/// A write of any kind, and its outcome.
enum ModelWrite: Hashable {
  case submission(ModelSubmission)
  case grant(Grant)
  case withdrawal(GrantID, AppScope, GrantWithdrawal)
  case request(LinkRequest)

  enum Outcome: Hashable {
    case commit(CommitReceipt)
    case grant(GrantReceipt?)
    case request(LinkAnswer)

    /// Refused, or nothing had to be changed.
    var isUnchanged: Bool {
      switch self {
      case .commit(let receipt): receipt.changed.isEmpty
      case .grant(let receipt): receipt?.isChanged != true
      case .request(.done(let receipt)): !receipt.isChanged && receipt.changed.isEmpty
      case .request(.refused): true
      }
    }
  }

  var at: Milliseconds {
    switch self {
    case .submission(let submission): submission.receivedAt
    case .grant(let grant): grant.createdAt
    case .withdrawal(_, _, let withdrawal): withdrawal.at
    case .request(let request): request.at
    }
  }

  var expectedKeys: Set<LedgerKey> {
    switch self {
    case .submission(let submission): LedgerKey.expected(by: submission.submission)
    case .grant(let grant): LedgerKey.expected(by: grant)
    case .withdrawal(let id, let scope, _): LedgerKey.expected(byWithdrawing: id, in: scope)
    case .request(let request): LedgerKey.expected(by: request)
    }
  }

  /// Runs in a ledger, perhaps after other writes.
  func decide<Reader>(in ledger: inout Ledger<Reader>) throws
    -> @Sendable (ChangeNumbering) -> Outcome
  {
    switch self {
    case .submission(let submission):
      let receipt = try ledger.commit(submission.submission)
      return { .commit(receipt($0)) }
    case .grant(let grant):
      let receipt = try ledger.add(grant)
      return { .grant(receipt($0)) }
    case .withdrawal(let id, let scope, let withdrawal):
      let receipt = try ledger.withdraw(id, in: scope, withdrawal)
      return { .grant(receipt?($0)) }
    case .request(let request):
      let answer = try ledger.perform(request)
      return { .request(answer($0)) }
    }
  }
}

/// A comparable ``Submission``.
struct ModelSubmission: Hashable {
  var facts: [SignedFact] = []
  var accountID: AccountID?
  var anonymousAccountID: AccountID?
  var notification: SignedNotification?
  var receivedAt: Milliseconds
  var catalog = Catalog()

  var submission: Submission {
    Submission(
      facts: facts, accountID: accountID, anonymousAccountID: anonymousAccountID,
      notification: notification, receivedAt: receivedAt, catalog: catalog)
  }
}

extension ModelStore {
  /// Runs a write in a new ledger and applies its changes.
  mutating func write(_ write: ModelWrite) throws -> ModelWrite.Outcome {
    var ledger = Ledger(reader: self)
    let outcome = try write.decide(in: &ledger)
    return outcome(try apply(ledger.changes))
  }

  @discardableResult
  mutating func submit(
    _ facts: [SignedFact], by account: AccountID? = nil, anonymous: AccountID? = nil,
    notification: SignedNotification? = nil, at: Milliseconds = Sample.now,
    under catalog: Catalog = Catalog()
  ) throws -> CommitReceipt {
    var ledger = Ledger(reader: self)
    let receipt = try ledger.commit(
      Submission(
        facts: facts, accountID: account, anonymousAccountID: anonymous,
        notification: notification, receivedAt: at, catalog: catalog))
    return receipt(try apply(ledger.changes))
  }

  @discardableResult
  mutating func ask(
    _ change: LinkRequest.Change, at: Milliseconds = Sample.now, in scope: AppScope = Sample.scope
  ) throws -> LinkAnswer {
    var ledger = Ledger(reader: self)
    let answer = try ledger.perform(
      LinkRequest(
        scope: scope, change: change, reason: "ticket 7", at: at,
        caller: Sample.caller))
    return answer(try apply(ledger.changes))
  }

  @discardableResult
  mutating func add(_ grant: Grant) throws -> GrantReceipt {
    var ledger = Ledger(reader: self)
    let receipt = try ledger.add(grant)
    return receipt(try apply(ledger.changes))
  }

  // MARK: Queries

  func account(of target: LinkTarget) -> AccountID? {
    links[ScopedTarget(Sample.scope, target)]?.account
  }

  func row(of account: AccountID) -> AccountRow? {
    accounts[ScopedAccount(Sample.scope, account)]
  }

  func history(of target: LinkTarget) -> [LinkEvent] {
    history[ScopedTarget(Sample.scope, target)] ?? []
  }

  func holdings(of account: AccountID) -> AccountHoldings {
    holdings(of: ScopedAccount(Sample.scope, account))
  }
}
