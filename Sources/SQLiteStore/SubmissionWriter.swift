import EntitlementDomain
import EntitlementStore
import GRDB

/// Writes one submission within a transaction that somebody else commits: merges its facts, links
/// their chains, reviews its notification, and appends what changed to the feed.
///
/// Used once. What it reads of chains and accounts it keeps until the end, since the feed tells
/// how they stood before and after.
struct SubmissionWriter {
  let database: Database
  let submission: Submission
  /// Chains and app transactions that the submission concerns, and how they stood before it.
  var concerns = SubmissionConcerns()
  /// Unlinked chains that may find their account by what this submission taught.
  var chainsToSettle: [Int64] = []
  private var scopes: [Int64: AppScope] = [:]
  /// The document that was interned last: all facts of a receipt share one, which is hashed once.
  var internedDocument: (bytes: [UInt8], id: Int64)?
  /// Documents that a fact no longer comes out of; others may.
  var releasedDocuments: Set<Int64> = []

  init(database: Database, submission: Submission) {
    self.database = database
    self.submission = submission
  }

  var receivedAt: Milliseconds { submission.receivedAt }

  mutating func write() throws -> CommitReceipt {
    let notificationWasKnown = try submission.notification.map { try record($0) } ?? false
    var merges: [FactMerge] = []
    for signed in submission.facts {
      merges.append(try merge(signed))
    }
    try deleteUnusedDocuments()
    try link(merges, named: submission.accountID)
    var findings: NotificationFindings?
    if let notification = submission.notification, !notificationWasKnown {
      findings = try self.findings(of: notification, merges: merges)
    }
    let outcome = try appendChanges(with: findings)
    return CommitReceipt(
      dispositions: merges.map(\.disposition), links: merges.map { concerns.linkOutcome(of: $0) },
      customers: outcome.customers, changed: outcome.changed,
      notificationWasKnown: notificationWasKnown, events: findings?.events ?? [])
  }

  mutating func scope(_ id: Int64) throws -> AppScope {
    if let scope = scopes[id] { return scope }
    let scope = try database.scope(rowID: id)
    scopes[id] = scope
    return scope
  }

  /// Returns true when the notification was known: what is stored then stands.
  private func record(_ notification: SignedNotification) throws -> Bool {
    let record = notification.record
    if try database.row(.findNotification, [record.uuid.stored]) != nil { return true }
    guard case .jws(let header, let signature) = notification.signed.proof else {
      throw StoreError(.internalFault, "a notification comes as a JWS only")
    }
    try database.run(
      .insertNotification,
      [
        record.uuid.stored, record.scope.map { try database.internedScopeID($0) },
        record.type.stored, record.subtype?.stored, record.status, record.signedDate?.rawValue,
        receivedAt.rawValue, record.digest.stored,
        database.internedHeaderID(header), notification.signed.payload.stored, signature.stored,
      ])
    return false
  }

  // MARK: Facts

  private mutating func merge(_ signed: SignedFact) throws -> FactMerge {
    let fact = signed.fact
    let scopeID = try database.internedScopeID(fact.scope)
    let known = try database.row(.findFact, fact.key.arguments(scopeID: scopeID))
    var outcome: FactMerge
    if let known {
      outcome = try merge(signed, scopeID: scopeID, over: known)
    } else {
      let chain = try fact.chain.map { try concernedChain($0, scopeID: scopeID) }
      try store(signed, by: .insertFact, scopeID: scopeID, chainRowID: chain)
      outcome = FactMerge(fact: fact, disposition: .added, chainRowID: chain)
    }
    for chain in [outcome.chainRowID, outcome.formerChainRowID].compactMap(\.self) {
      try concern(chain)
      if outcome.isNew { concerns.chains[chain]?.hasNewFacts = true }
    }
    if case .appTransaction(let fact) = fact {
      let key = AppTransactionKey(scopeID: scopeID, identity: fact.identity)
      outcome.appTransaction = key
      try concern(key)
      if outcome.isNew { concerns.appTransactions[key]?.hasNewFacts = true }
    }
    return outcome
  }

  private mutating func merge(_ signed: SignedFact, scopeID: Int64, over known: Row) throws
    -> FactMerge
  {
    let knownChain: Int64? = known[1]
    let standing = FactPrecedence(
      authority: try StoredFact.authority(known, at: 2), signedDate: Milliseconds(known[3]),
      isRevoked: known[4], isUpgraded: known[5], digest: try known.digest(6))
    let fact = signed.fact
    let precedence = fact.precedence
    if precedence.digest == standing.digest, precedence.authority == standing.authority {
      return FactMerge(fact: fact, disposition: .duplicate, chainRowID: knownChain)
    }
    guard standing < precedence else {
      return FactMerge(fact: fact, disposition: .superseded, chainRowID: knownChain)
    }
    let chain = try fact.chain.map { try concernedChain($0, scopeID: scopeID) }
    if let document: Int64 = known[7] { releasedDocuments.insert(document) }
    try store(signed, by: .replaceFact, scopeID: scopeID, chainRowID: chain)
    return FactMerge(
      fact: fact, disposition: .replaced, chainRowID: chain,
      formerChainRowID: knownChain == chain ? nil : knownChain)
  }

  private mutating func store(
    _ signed: SignedFact, by statement: StoreStatement, scopeID: Int64, chainRowID: Int64?
  ) throws {
    let precedence = signed.fact.precedence
    let hints = FactHints(signed.fact)
    let key = signed.fact.key
    let proof = try storedProof(signed.signed.proof)
    try database.run(
      statement,
      [
        chainRowID, hints.appTransactionID?.stored, hints.appAccountToken?.stored,
        hints.previousChain?.stored, precedence.authority.rawValue,
        precedence.signedDate.rawValue, precedence.isRevoked, precedence.isUpgraded,
        precedence.digest.stored, proof.headerID, signed.signed.payload.stored,
        proof.signature.stored, proof.documentID, scopeID, key.kind.rawValue,
        key.identifier.stored,
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
    concerns.add(appTransaction, try database.link(of: appTransaction))
  }
}
