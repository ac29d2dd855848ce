package import EntitlementDomain

/// Computes the changes of a write: merged facts (R3, R5), links and claims (R41–R46), grants, and
/// entries of the feed. It is pure. A store supplies the rows to read and writes the ``changes``,
/// so that all stores decide alike.
///
/// One ledger may process several writes of one transaction. Each sees the changes of the earlier
/// ones. A write that throws leaves the ledger unchanged.
///
/// In every write, the id of a merged account is an alias of the account that it was merged into.
package struct Ledger<Reader: LedgerReading> {
  var view: LedgerView<Reader>

  // The current write.
  var context = WriteContext(at: 0)
  var affected = AffectedItems()
  var chainsToSettle: [UnsettledChain] = []
  /// Tokens and app transactions that the write found ambiguous (R71), and disputed purchases (R93).
  var ambiguities: [(scope: AppScope, event: FeedEvent)] = []
  /// Accounts without room for a chain that the write would have linked (R68).
  var fullAccounts: [FullAccount] = []

  /// An unlinked chain that may find its account by what the write has linked.
  struct UnsettledChain {
    let target: ScopedTarget
    let hints: ChainHints
  }

  package init(reader: Reader) {
    view = LedgerView(reader: reader)
  }

  /// The changes of all writes, for the store to write.
  package var changes: LedgerChanges { view.applied.changes }

  /// - Returns: a function that makes the receipt when the sequence numbers are known.
  package mutating func commit(_ submission: Submission) throws
    -> @Sendable (ChangeNumbering) -> CommitReceipt
  {
    let context = WriteContext(
      at: submission.receivedAt, jobsAt: submission.jobsAt ?? submission.receivedAt,
      author: submission.caller ?? submission.importedBy,
      catalog: submission.catalog, takesNothing: submission.takesNothing)
    return try write(context) { ledger in try ledger.merge(submission) }
  }

  package mutating func add(_ grant: Grant, by caller: AuditCaller = .server) throws
    -> @Sendable (ChangeNumbering) -> GrantReceipt
  {
    let context = WriteContext(
      at: grant.createdAt, onBehalfOf: grant.onBehalfOf, note: grant.reason, caller: caller)
    return try write(context) { ledger in try ledger.addGrant(grant) }
  }

  /// - Returns: nil for an unknown grant.
  package mutating func withdraw(
    _ id: GrantID, in scope: AppScope, _ withdrawal: GrantWithdrawal,
    by caller: AuditCaller = .server
  ) throws -> (@Sendable (ChangeNumbering) -> GrantReceipt)? {
    let context = WriteContext(
      at: withdrawal.at, onBehalfOf: withdrawal.onBehalfOf, note: withdrawal.reason,
      caller: caller)
    return try write(context) { ledger in
      try ledger.withdrawGrant(ScopedGrant(scope, id), withdrawal)
    }
  }

  package mutating func perform(_ request: LinkRequest) throws
    -> @Sendable (ChangeNumbering) -> LinkAnswer
  {
    let context = WriteContext(
      at: request.at, author: request.caller, onBehalfOf: request.onBehalfOf,
      note: request.reason, caller: request.caller, catalog: request.catalog)
    return try write(context) { ledger in try ledger.answer(request) }
  }

  /// Opens or changes a job of the App Store Server API (R79), with an entry of the audit trail if a
  /// peer asked for it.
  package mutating func change(_ request: AppStoreJobRequest) throws -> AppStoreJobAnswer {
    let context = WriteContext(
      at: request.at, onBehalfOf: request.onBehalfOf, note: request.reason,
      caller: request.caller)
    return try write(context) { ledger in try ledger.answer(request) }
  }

  /// Records or decides what the App Store is told about consumption (R86).
  package mutating func change(_ request: ConsumptionChange) throws -> ConsumptionAnswer {
    let context = WriteContext(
      at: request.at, jobsAt: request.jobsAt, onBehalfOf: request.onBehalfOf,
      note: request.reason, caller: request.caller, catalog: request.catalog)
    return try write(context) { ledger in try ledger.answer(request) }
  }

  /// Adds an entry of the audit trail for a call without another write.
  package mutating func record(_ call: AuditCall) throws {
    try write(WriteContext(at: call.at)) { ledger in
      var call = call
      if let scope = call.scope, let account = call.account {
        // A pseudonym of a deleted account would keep its id (R77).
        call.account = try ledger.knownOwner(ScopedAccount(scope, account))?.id
      }
      ledger.view.append(call)
    }
  }

  private mutating func write<Outcome>(
    _ context: WriteContext, _ body: (inout Self) throws -> Outcome
  ) throws -> Outcome {
    self.context = context
    affected = AffectedItems()
    chainsToSettle = []
    ambiguities = []
    fullAccounts = []
    do {
      let outcome = try body(&self)
      view.apply()
      return outcome
    } catch {
      view.discard()
      throw error
    }
  }

  // MARK: Steps

  /// Adds the entry of the audit trail for the current write, which has changed something (R76).
  mutating func audit(
    _ method: String, in scope: AppScope, _ account: AccountID?, from former: AccountID? = nil,
    subject: String = ""
  ) {
    view.append(
      AuditCall(
        method: method, caller: context.caller, scope: scope, account: account,
        formerAccount: former, onBehalfOf: context.onBehalfOf, reason: context.note ?? "",
        subject: subject, at: context.at, erased: view.pending.changes.erasedAccounts))
  }

  /// Calls `body` for each item and collects the missing rows of all items, so that the store loads
  /// them in one round trip.
  ///
  /// - Throws: ``LedgerRowsMissing`` with the rows of all items.
  mutating func forEach<Item>(
    _ items: some Sequence<Item>, _ body: (inout Self, Item) throws -> Void
  ) throws {
    var missing: Set<LedgerKey> = []
    for item in items {
      do {
        try body(&self, item)
      } catch let rows as LedgerRowsMissing {
        missing.formUnion(rows.keys)
      }
    }
    if !missing.isEmpty { throw LedgerRowsMissing(missing) }
  }

  /// Records the state of a target before the write, once.
  mutating func noteAffected(_ target: ScopedTarget) throws {
    if affected[target] != nil { return }
    affected.add(target, try view.link(of: target))
  }
}

/// The time, author, caller and catalog of a write.
struct WriteContext {
  var at: Milliseconds
  /// The time of jobs that a submission opens.
  var jobsAt = Milliseconds(0)
  /// The caller of a submission or an explicit change of links; nil for another write, and if it is not
  /// known.
  var author: AuditCaller?
  /// The person or tool for whom the caller acts.
  var onBehalfOf: String?
  /// The reason of an explicit request; nil for a submission.
  var note: String?
  var caller = AuditCaller.server
  /// The catalog for the decision on claims and the review of notifications.
  var catalog = Catalog()
  /// Whether a submission takes nothing from an account (R90).
  var takesNothing = false
}

/// The targets and accounts that one write affects, in the order in which the write reached them:
/// their state before, and the effect of the write.
struct AffectedItems {
  struct Item {
    let accountBefore: AccountID?
    /// False for a chain that the write created. No cached answer about it can exist.
    let existedBefore: Bool
    var hasNewFacts = false
    /// Why the claim of the submission was refused (R44).
    var refusal: LinkDecision.Refusal?
    /// The claim of the submission brought it back to its claimer (R93).
    var isReturn = false
    /// The account was decided for this submission.
    var isSettled = false
  }

  private(set) var targets: [ScopedTarget] = []
  private var items: [ScopedTarget: Item] = [:]
  /// Accounts with changes other than gained or lost links.
  private(set) var accounts: [ScopedAccount] = []
  private(set) var kinds: [ScopedAccount: ChangeKinds] = [:]
  /// Accounts that were merged into another one.
  private(set) var mergedAway: Set<ScopedAccount> = []

  subscript(target: ScopedTarget) -> Item? {
    get { items[target] }
    // Only a target that was added can be changed.
    set { if items[target] != nil, let newValue { items[target] = newValue } }
  }

  /// Does nothing for a target that was added before.
  mutating func add(_ target: ScopedTarget, _ row: LinkRow?) {
    if items[target] != nil { return }
    targets.append(target)
    items[target] = Item(accountBefore: row?.account, existedBefore: row != nil)
  }

  mutating func add(_ kinds: ChangeKinds, to account: ScopedAccount) {
    if self.kinds[account] == nil { accounts.append(account) }
    self.kinds[account, default: []].formUnion(kinds)
  }

  mutating func addMergedAway(_ account: ScopedAccount) {
    mergedAway.insert(account)
  }
}
