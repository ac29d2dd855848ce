import EntitlementDomain
import EntitlementStore

/// A minimal in-memory store: dictionaries with the changes of ledgers. Writes are sequential, so
/// it is also the model of every store.
struct ModelStore {
  struct StoredFact: Hashable {
    var signed: SignedFact
    var target: LinkTarget
    var hints: FactHints
    var history: FactHistory?
    var supplement: [UInt8]?
  }

  /// The first bytes serve as the digest.
  static func digest(of document: [UInt8]) -> PayloadDigest {
    let length = PayloadDigest.length
    return PayloadDigest(Array((document + [UInt8](repeating: 0, count: length)).prefix(length)))
  }

  private(set) var facts: [ScopedFact: StoredFact] = [:]
  /// The payloads of the versions that do not stand.
  private(set) var versions: [ScopedFact: [StatementDigest: [UInt8]]] = [:]
  private(set) var documents: Set<PayloadDigest> = []
  private(set) var links: [ScopedTarget: LinkRow] = [:]
  private(set) var accounts: [ScopedAccount: AccountRow] = [:]
  private(set) var tokens: [ScopedToken: TokenRow] = [:]
  private(set) var grants: [ScopedGrant: Grant] = [:]
  private(set) var notifications: [NotificationUUID: OriginalTransactionID?] = [:]
  private(set) var jobs: [AppStoreJobKey: AppStoreJob] = [:]
  private(set) var consumption: [ConsumptionKey: ConsumptionRecord] = [:]
  private(set) var consents: [ScopedAccount: ConsumptionConsent] = [:]
  private(set) var history: [ScopedTarget: [LinkEvent]] = [:]
  private(set) var refusedClaims: [RefusedClaim.Key: RefusedClaim] = [:]
  private(set) var feed: [Change] = []

  var feedEnd: Int64 { feed.last?.sequence ?? 0 }

  /// Applies the changes of a ledger over this model.
  mutating func apply(_ changes: LedgerChanges) throws -> ChangeNumbering {
    let numbering = ChangeNumbering(base: feedEnd)
    try apply(facts: changes)
    for (target, write) in changes.links {
      try check(write.isNew == (links[target] == nil), "a new link has no row")
      try check(write.storedAccount == links[target]?.account, "the stored account of a link")
      var row = write.row
      row.revision = write.changeOrdinal.map(numbering.sequence) ?? links[target]?.revision ?? 0
      links[target] = row
    }
    for (account, write) in changes.accounts {
      try check(write.isNew == (accounts[account] == nil), "a new account has no row")
      var row = write.row
      row.revision = write.changeOrdinal.map(numbering.sequence) ?? accounts[account]?.revision ?? 0
      accounts[account] = row
    }
    for (token, row) in changes.tokens { tokens[token] = row }
    for (id, grant) in changes.grants { grants[id] = grant }
    for write in changes.notifications {
      let uuid = write.notification.record.uuid
      try check(notifications.updateValue(write.chain, forKey: uuid) == nil, "a known notification")
    }
    jobs.merge(changes.jobs) { $1 }
    consumption.merge(changes.consumption) { $1 }
    for (account, consent) in changes.consents { consents[account] = consent }
    erase(changes.erasedAccounts)
    for write in changes.linkEvents { history[write.target, default: []].append(write.event) }
    refusedClaims.merge(changes.refusedClaims) { $1 }
    for (index, write) in changes.changes.enumerated() {
      feed.append(
        Change(
          sequence: numbering.sequence(index + 1), scope: write.scope, subject: write.subject,
          kinds: write.kinds, events: write.events, committedAt: write.committedAt))
    }
    return numbering
  }

  private mutating func apply(facts changes: LedgerChanges) throws {
    try apply(formerVersions: changes)
    for (key, write) in changes.facts {
      try check(write.storedTarget == facts[key]?.target, "the stored target of a fact")
      facts[key] = StoredFact(
        signed: write.signed, target: write.target, hints: write.hints, history: write.history,
        supplement: write.supplement)
      if case .document(let bytes) = write.signed.signed.proof {
        documents.insert(Self.digest(of: bytes))
      }
    }
    for (key, write) in changes.histories where changes.facts[key] == nil {
      try check(write.target == facts[key]?.target, "the target of a history")
      facts[key]?.history = write.history
      facts[key]?.supplement = write.supplement
    }
    for (key, write) in changes.versions {
      for (statement, signed) in write.added {
        let former = versions[key, default: [:]].updateValue(
          signed.signed.payload, forKey: statement)
        try check(former == nil, "an added version is stored")
      }
    }
    for key in Set(changes.facts.keys).union(changes.histories.keys) {
      try check(
        Set((versions[key] ?? [:]).keys) == facts[key]?.history?.others ?? [],
        "the payloads of the versions are not those of the history")
    }
    let used = Set(facts.values.compactMap(\.document))
    documents.subtract(changes.releasedDocuments.subtracting(used))
  }

  private mutating func apply(formerVersions changes: LedgerChanges) throws {
    for (key, write) in changes.versions {
      for statement in write.removed {
        try check(
          versions[key]?.removeValue(forKey: statement) != nil, "a removed version is not stored")
      }
      guard let former = write.former else { continue }
      try check(facts[key] != nil, "the former standing version is not stored")
      versions[key, default: [:]][former] = facts[key]?.signed.signed.payload
    }
  }

  private mutating func erase(_ accounts: Set<ScopedAccount>) {
    refusedClaims = refusedClaims.filter {
      !accounts.contains(ScopedAccount($0.key.target.scope, $0.key.claimer))
    }
    for account in accounts {
      for target in history.keys where target.scope == account.scope {
        history[target] = history[target]?.map { event in
          var event = event
          if event.from == account.id { (event.from, event.isFromErased) = (nil, true) }
          if event.to == account.id { (event.to, event.isToErased) = (nil, true) }
          return event
        }
      }
    }
  }

  private func check(_ holds: Bool, _ what: String) throws {
    if !holds { throw ModelFailure(description: what) }
  }
}

/// The changes of a ledger contradict the stored rows.
struct ModelFailure: Error, CustomStringConvertible {
  let description: String
}

extension ModelStore.StoredFact {
  /// As a store reads it (R92).
  var completed: Fact {
    let fact = signed.fact
    return supplement.flatMap {
      try? FactSupplement(payload: $0, completing: fact.authority, of: fact).completing(fact)
    } ?? fact
  }

  var document: PayloadDigest? {
    guard case .document(let bytes) = signed.signed.proof else { return nil }
    return ModelStore.digest(of: bytes)
  }
}
