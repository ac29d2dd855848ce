import EntitlementDomain
import EntitlementStore
import GRDB

/// Writes one submission within a transaction that somebody else commits: merges its facts, links
/// their chains, and appends what changed to the feed.
///
/// Used once. What it reads of chains and accounts it keeps until the end, since the feed tells
/// how they stood before and after.
struct SubmissionWriter {
  let database: Database
  let receivedAt: Milliseconds
  /// Chains and app transactions that the submission concerns, and how they stood before it.
  var concerns = SubmissionConcerns()
  /// Unlinked chains that may find their account by what this submission taught.
  var chainsToSettle: [Int64] = []

  init(database: Database, receivedAt: Milliseconds) {
    self.database = database
    self.receivedAt = receivedAt
  }

  mutating func write(_ submission: Submission) throws -> CommitReceipt {
    let notificationWasKnown = try submission.notification.map { try record($0) } ?? false
    var merges: [FactMerge] = []
    for signed in submission.facts {
      merges.append(try merge(signed))
    }
    try link(submission.facts.map(\.fact), merges: merges, named: submission.accountID)
    let outcome = try appendChanges()
    return CommitReceipt(
      dispositions: merges.map(\.disposition), customers: outcome.customers,
      changed: outcome.changed, notificationWasKnown: notificationWasKnown)
  }

  /// Returns true when the notification was known: what is stored then stands.
  private func record(_ notification: SignedNotification) throws -> Bool {
    let record = notification.record
    if try database.row(.findNotification, [record.uuid.stored]) != nil { return true }
    try database.run(
      .insertNotification,
      [
        record.uuid.stored, record.scope.map { try database.internedScopeID($0) },
        record.type.stored, record.subtype?.stored, record.status, record.signedDate?.rawValue,
        receivedAt.rawValue, record.digest.stored,
        database.internedHeaderID(notification.signed.header), notification.signed.payload.stored,
        notification.signed.signature.stored,
      ])
    return false
  }

  // MARK: Facts

  private mutating func merge(_ signed: SignedFact) throws -> FactMerge {
    let fact = signed.fact
    let scopeID = try database.internedScopeID(fact.scope)
    let key = fact.key
    let known = try database.row(.findFact, key.arguments(scopeID: scopeID))
    let outcome: FactMerge
    if let known {
      outcome = try merge(signed, scopeID: scopeID, over: known)
    } else {
      let chain = try fact.chain.map { try concernedChain($0, scopeID: scopeID) }
      try store(signed, by: .insertFact, scopeID: scopeID, chainRowID: chain)
      outcome = FactMerge(disposition: .added, chainRowID: chain)
    }
    for chain in [outcome.chainRowID, outcome.formerChainRowID].compactMap(\.self) {
      try concern(chain)
      if outcome.isNew { concerns.chains[chain]?.hasNewFacts = true }
    }
    if case .appTransaction(let fact) = fact {
      let subject = AppTransactionKey(scopeID: scopeID, identity: fact.identity)
      try concern(subject)
      if outcome.isNew { concerns.appTransactions[subject]?.hasNewFacts = true }
    }
    return outcome
  }

  private mutating func merge(_ signed: SignedFact, scopeID: Int64, over known: Row) throws
    -> FactMerge
  {
    let knownChain: Int64? = known[1]
    let standing = FactPrecedence(
      signedDate: Milliseconds(known[2]), isRevoked: known[3], isUpgraded: known[4],
      digest: try known.digest(5))
    let precedence = signed.fact.precedence
    if precedence.digest == standing.digest {
      return FactMerge(disposition: .duplicate, chainRowID: knownChain)
    }
    guard standing < precedence else {
      return FactMerge(disposition: .superseded, chainRowID: knownChain)
    }
    let chain = try signed.fact.chain.map { try concernedChain($0, scopeID: scopeID) }
    try store(signed, by: .replaceFact, scopeID: scopeID, chainRowID: chain)
    return FactMerge(
      disposition: .replaced, chainRowID: chain,
      formerChainRowID: knownChain == chain ? nil : knownChain)
  }

  private func store(
    _ signed: SignedFact, by statement: StoreStatement, scopeID: Int64, chainRowID: Int64?
  ) throws {
    let precedence = signed.fact.precedence
    let hints = FactHints(signed.fact)
    let key = signed.fact.key
    try database.run(
      statement,
      [
        chainRowID, hints.appTransactionID?.stored, hints.appAccountToken?.stored,
        hints.previousChain?.stored, precedence.signedDate.rawValue, precedence.isRevoked,
        precedence.isUpgraded, precedence.digest.stored,
        database.internedHeaderID(signed.signed.header), signed.signed.payload.stored,
        signed.signed.signature.stored, scopeID, key.kind.rawValue, key.identifier.stored,
      ])
  }

  // MARK: What the submission concerns

  /// The row of a chain, made if it is new.
  private mutating func concernedChain(_ id: OriginalTransactionID, scopeID: Int64) throws
    -> Int64
  {
    if let chain = try database.chain(id, scopeID: scopeID) {
      concerns.add(chain, existedBefore: true)
      return chain.id
    }
    try database.run(.insertChain, [scopeID, id.stored])
    let chain = ChainRow(
      id: database.lastInsertedRowID, scopeID: scopeID, originalTransactionID: id)
    concerns.add(chain, existedBefore: false)
    return chain.id
  }

  /// Notes how a chain stands, unless that was noted before.
  mutating func concern(_ chainRowID: Int64) throws {
    if concerns.chains[chainRowID] != nil { return }
    guard let chain = try database.chain(rowID: chainRowID) else {
      throw StoreError(.corrupt, "a stored fact names a chain that is not stored")
    }
    concerns.add(chain, existedBefore: true)
  }

  mutating func concern(_ appTransaction: AppTransactionKey) throws {
    if concerns.appTransactions[appTransaction] != nil { return }
    concerns.add(appTransaction, account: try database.linkedAccount(of: appTransaction))
  }
}
