package import EntitlementDomain

/// Decides what a write changes: merges facts (R3, R5), links and claims (R41–R46), grants, what the
/// feed tells. Pure: a store gives it rows to read and writes its ``changes``, so that every store
/// decides alike.
///
/// One ledger may take several writes after each other, which one transaction commits: each sees
/// what those before it did. A write that throws leaves the ledger as it was.
///
/// A name of an account that was merged into another means that other one, in every write.
package struct Ledger<Reader: LedgerReading> {
  var view: LedgerView<Reader>

  // Of the write under way.
  var occasion = LedgerOccasion(at: 0)
  var concerns = LedgerConcerns()
  var chainsToSettle: [UnsettledChain] = []

  /// An unlinked chain that may find its account by what the write taught.
  struct UnsettledChain {
    let target: ScopedTarget
    let hints: ChainHints
  }

  package init(reader: Reader) {
    view = LedgerView(reader: reader)
  }

  /// What has to be written.
  package var changes: LedgerChanges { view.settled.changes }

  /// - Returns: the receipt, once the numbers of the transaction's changes are known.
  package mutating func commit(_ submission: Submission) throws
    -> @Sendable (ChangeNumbering) -> CommitReceipt
  {
    let occasion = LedgerOccasion(at: submission.receivedAt, catalog: submission.catalog)
    return try write(occasion) { ledger in try ledger.merge(submission) }
  }

  package mutating func add(_ grant: Grant) throws
    -> @Sendable (ChangeNumbering) -> GrantReceipt
  {
    try write(LedgerOccasion(at: grant.createdAt)) { ledger in try ledger.keep(grant) }
  }

  /// - Returns: nil when no grant of the scope has the id.
  package mutating func withdraw(
    _ id: GrantID, in scope: AppScope, _ withdrawal: GrantWithdrawal
  ) throws -> (@Sendable (ChangeNumbering) -> GrantReceipt)? {
    try write(LedgerOccasion(at: withdrawal.at)) { ledger in
      try ledger.end(ScopedGrant(scope, id), withdrawal)
    }
  }

  package mutating func perform(_ request: LinkRequest) throws
    -> @Sendable (ChangeNumbering) -> LinkAnswer
  {
    let occasion = LedgerOccasion(
      at: request.at, author: request.author, note: request.reason)
    return try write(occasion) { ledger in try ledger.answer(request) }
  }

  private mutating func write<Outcome>(
    _ occasion: LedgerOccasion, _ body: (inout Self) throws -> Outcome
  ) throws -> Outcome {
    self.occasion = occasion
    concerns = LedgerConcerns()
    chainsToSettle = []
    do {
      let outcome = try body(&self)
      view.settle()
      return outcome
    } catch {
      view.discard()
      throw error
    }
  }

  // MARK: Steps of several writes

  /// Does the same for each. Rows that are missing for several are asked for together: the write is
  /// run again from the start when they are loaded.
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

  /// Notes how a chain or an app transaction stands, unless that was noted before.
  mutating func concern(_ target: ScopedTarget) throws {
    if concerns[target] != nil { return }
    concerns.add(target, try view.link(of: target))
  }
}
