import EntitlementDomain
import EntitlementStore
import GRDB

/// Writes the changes of a ledger. The caller commits the transaction. For one use only.
struct SQLiteChangesWriter {
  let database: Database
  let scopes: SQLiteScopeCache
  let vault: PayloadVault
  let changes: LedgerChanges
  private let numbering: ChangeNumbering
  private var accounts: [ScopedAccount: StoredAccount] = [:]
  private var chains: [ScopedTarget: StoredChain] = [:]

  /// What a ledger decided, and what was written.
  struct Written<Decision> {
    let decision: Decision
    let numbering: ChangeNumbering
    /// Whether the feed has changes.
    let isChanged: Bool
    /// The entries of the audit trail.
    let entries: [AuditEntry]
  }

  /// Runs a ledger on the stored rows and writes its changes.
  ///
  /// - Parameter vault: compresses and expands payloads.
  static func write<Decision>(
    to database: Database, vault: PayloadVault, auditedBy trail: AuditTrail = AuditTrail(node: ""),
    _ decide: (inout Ledger<SQLiteLedgerReader>) throws -> Decision
  ) throws -> Written<Decision> {
    let scopes = SQLiteScopeCache(database: database)
    var ledger = Ledger(
      reader: SQLiteLedgerReader(database: database, scopes: scopes, vault: vault))
    let decision = try decide(&ledger)
    var writer = try SQLiteChangesWriter(
      database: database, scopes: scopes, vault: vault, changes: ledger.changes)
    try writer.write()
    return Written(
      decision: decision, numbering: writer.numbering, isChanged: !ledger.changes.changes.isEmpty,
      entries: try database.write(ledger.changes.audits, by: trail, scopes))
  }

  private init(
    database: Database, scopes: SQLiteScopeCache, vault: PayloadVault, changes: LedgerChanges
  ) throws {
    self.database = database
    self.scopes = scopes
    self.vault = vault
    self.changes = changes
    // There is one writer, and it uses every number that it takes.
    let base = changes.changes.isEmpty ? 0 : try database.feedEnd()
    self.numbering = ChangeNumbering(base: base)
  }

  /// Writes rows before the rows that refer to them.
  private mutating func write() throws {
    if changes.isEmpty { return }
    try writeAccounts()
    try writeLinks()
    try writeFacts()
    for (token, row) in changes.tokens { try write(token, row) }
    for (grant, kept) in changes.grants { try write(grant, kept) }
    for notification in changes.notifications { try write(notification) }
    for job in changes.jobs.values {
      try database.write(job, scopeID: scopes.interned(job.key.scope))
    }
    for record in changes.consumption.values {
      try database.write(record, scopeID: scopes.interned(record.key.scope))
    }
    for (account, consent) in changes.consents {
      try database.write(consent, ofAccount: self.account(account).id)
    }
    // Before the new events, which may name an account that was created again.
    for account in changes.erasedAccounts {
      let stored = try self.account(account)
      try database.run(.eraseFormerAccount, [stored.id])
      try database.run(.eraseLatterAccount, [stored.id])
      try database.run(.eraseRefusedClaims, [scopes.interned(account.scope), account.id.stored])
      try database.run(.eraseImportRows, [scopes.interned(account.scope), account.id.stored])
    }
    for event in changes.linkEvents { try write(event) }
    for claim in changes.refusedClaims.values { try database.write(claim, scopes) }
    try database.trimRefusedClaims(changes.refusedClaims.values, scopes)
    for (position, change) in changes.changes.enumerated() {
      try write(change, sequence: numbering.sequence(position + 1))
    }
  }

  // MARK: Accounts

  private mutating func writeAccounts() throws {
    // Inserted first, because a new account may be merged into another new one.
    for (account, write) in changes.accounts where write.isNew {
      try database.run(
        .insertAccount,
        [
          scopes.interned(account.scope), account.id.stored, write.changedAt.rawValue, nil,
          write.row.isDeleted, write.row.claims, write.row.claimsSince?.rawValue, write.row.chains,
        ])
    }
    for (account, write) in changes.accounts {
      let stored = try self.account(account)
      let mergedInto = try write.row.mergedInto.map {
        try self.account(ScopedAccount(account.scope, $0)).id
      }
      if stored.mergedInto != mergedInto || stored.isDeleted != write.row.isDeleted
        || stored.claims != write.row.claims || stored.claimsSince != write.row.claimsSince
        || stored.chains != write.row.chains
      {
        try database.run(
          .setAccountStanding,
          [
            mergedInto, write.row.isDeleted, write.row.claims, write.row.claimsSince?.rawValue,
            write.row.chains, stored.id,
          ])
      }
      if let ordinal = write.changeOrdinal {
        try database.run(
          .setAccountRevision,
          [numbering.sequence(ordinal), write.changedAt.rawValue, stored.id])
      }
    }
  }

  /// The row of an account before this write, or as this write inserted it.
  private mutating func account(_ account: ScopedAccount) throws -> StoredAccount {
    if let stored = accounts[account] { return stored }
    guard let stored = try database.account(account.id, scopeID: scopes.interned(account.scope))
    else {
      throw StoreError(.internalFault, "a change names an account that is not known")
    }
    accounts[account] = stored
    return stored
  }

  mutating func accountRowID(_ id: AccountID?, in scope: AppScope) throws -> Int64? {
    try id.map { try account(ScopedAccount(scope, $0)).id }
  }

  // MARK: Links

  private mutating func writeLinks() throws {
    for (target, write) in changes.links {
      let account = try accountRowID(write.row.account, in: target.scope)
      switch target.target {
      case .chain(let id):
        try self.write(write, ofChain: id, target: target, account: account)
      case .appTransaction(let id):
        try database.run(
          .setAppTransaction,
          [
            scopes.interned(target.scope), id.packed, account, write.row.isUnsigned,
            write.row.isDetached, write.row.standing.rawValue,
          ])
      }
    }
  }

  private mutating func write(
    _ write: LinkWrite, ofChain id: OriginalTransactionID, target: ScopedTarget, account: Int64?
  ) throws {
    if write.isNew {
      try database.run(
        .insertChain,
        [
          scopes.interned(target.scope), id.packed, account, write.row.isUnsigned,
          write.row.isDetached, write.row.isFormerChain, write.row.standing.rawValue,
        ])
    }
    let stored = try chain(target, id)
    if stored.account != account || stored.isLinkUnsigned != write.row.isUnsigned
      || stored.isDetached != write.row.isDetached
      || stored.isFormerChain != write.row.isFormerChain
      || stored.standing != write.row.standing
    {
      try database.run(
        .linkChain,
        [
          account, write.row.isUnsigned, write.row.isDetached, write.row.isFormerChain,
          write.row.standing.rawValue, stored.id,
        ])
    }
    if let ordinal = write.changeOrdinal {
      try database.run(
        .setChainRevision, [numbering.sequence(ordinal), write.changedAt.rawValue, stored.id])
    }
  }

  /// The row of a chain before this write, or as this write inserted it.
  mutating func chain(_ target: ScopedTarget, _ id: OriginalTransactionID) throws -> StoredChain {
    if let stored = chains[target] { return stored }
    guard let stored = try database.chain(id, scopeID: scopes.interned(target.scope)) else {
      throw StoreError(.internalFault, "a change names a chain that is not known")
    }
    chains[target] = stored
    return stored
  }

  // MARK: Facts

  private mutating func writeFacts() throws {
    var documents = DocumentWriter(database: database, vault: vault)
    try writeFormerVersions()
    for (fact, write) in changes.facts {
      let signed = write.signed
      let proof = try documents.storedProof(signed.signed.proof)
      var chainRowID: Int64?
      if case .chain(let id) = write.target {
        chainRowID = try chain(ScopedTarget(fact.scope, write.target), id).id
      }
      let precedence = signed.fact.precedence
      try database.run(
        write.storedTarget == nil ? .insertFact : .replaceFact,
        [
          chainRowID, write.hints.appTransactionID?.packed, write.hints.appAccountToken?.packed,
          write.hints.previousChain?.packed, precedence.authority.rawValue,
          precedence.signedDate.rawValue, precedence.isRevoked, precedence.isUpgraded,
          precedence.digest.stored, proof.headerID,
          vault.stored(signed.signed.payload, texts: write.rowTexts).stored,
          proof.signature.stored, proof.documentID, write.history?.encoded.stored,
          write.supplement?.stored,
          scopes.interned(fact.scope), fact.key.kind.rawValue, fact.key.identifier.packed,
        ])
    }
    try writeVersions()
    // Deletes documents that no fact uses any more, so that newer receipts do not make the database
    // grow.
    for document in changes.releasedDocuments {
      try database.run(.deleteUnusedDocument, [document.stored])
    }
  }

  // MARK: Tokens and grants

  private mutating func write(_ token: ScopedToken, _ row: TokenRow?) throws {
    let scopeID = try scopes.interned(token.scope)
    guard let row else {
      try database.run(.deleteToken, [scopeID, token.token.packed])
      return
    }
    try database.run(
      .setToken,
      [
        scopeID, token.token.packed, accountRowID(row.account, in: token.scope),
        row.state.rawValue, row.author?.stored, row.note?.stored, row.since.rawValue,
        row.onBehalfOf?.stored,
      ])
  }

  private mutating func write(_ grant: ScopedGrant, _ kept: Grant?) throws {
    let scopeID = try scopes.interned(grant.scope)
    guard let kept else {
      try database.run(.deleteGrant, [scopeID, grant.id.stored])
      return
    }
    try database.run(
      .setGrant,
      [
        scopeID, kept.id.stored, accountRowID(kept.accountID, in: grant.scope),
        kept.entitlementID.stored, kept.starts.rawValue, kept.expires?.rawValue,
        kept.reason.stored, kept.author.stored, kept.createdAt.rawValue,
        kept.withdrawal?.at.rawValue, kept.withdrawal?.author.stored,
        kept.withdrawal?.reason.stored, kept.onBehalfOf?.stored,
        kept.withdrawal?.onBehalfOf?.stored,
      ])
  }
}

// MARK: Notifications, link history and feed
extension SQLiteChangesWriter {
  mutating func write(_ write: NotificationWrite) throws {
    let record = write.notification.record
    guard case .jws(let header, let signature) = write.notification.signed.proof else {
      throw StoreError(.internalFault, "a notification must be a JWS")
    }
    var chainRowID: Int64?
    if let scope = record.scope, let id = write.chain {
      chainRowID = try database.chain(id, scopeID: scopes.interned(scope))?.id
    }
    try database.run(
      .insertNotification,
      [
        record.uuid.stored, record.scope.map { try scopes.interned($0) }, record.type.stored,
        record.subtype?.stored, record.status, record.signedDate?.rawValue,
        write.receivedAt.rawValue, record.digest.stored, database.internedHeaderID(header),
        vault.stored(write.notification.signed.payload, header: header).stored, signature.stored,
        chainRowID,
      ])
  }

  mutating func write(_ write: LinkEventWrite) throws {
    let scope = write.target.scope
    let event = write.event
    var chainRowID: Int64?
    var appTransaction: AppTransactionID?
    switch write.target.target {
    case .chain(let id): chainRowID = try chain(write.target, id).id
    case .appTransaction(let id): appTransaction = id
    }
    try database.run(
      .insertLinkEvent,
      [
        chainRowID, scopes.interned(scope), appTransaction?.packed,
        accountRowID(event.from, in: scope), accountRowID(event.to, in: scope),
        event.reason.storedNumber, event.at.rawValue,
        event.author.map { try database.internedHeaderID($0.encoded) }, event.note?.stored,
        event.isFromErased, event.isToErased, event.onBehalfOf?.stored, event.traceID?.stored,
      ])
  }

  mutating func write(_ change: ChangeWrite, sequence: Int64) throws {
    var accountID: Int64?
    var chainID: Int64?
    switch change.subject {
    case .account(let scope, let id): accountID = try accountRowID(id, in: scope)
    case .unlinkedChain(let scope, let id):
      chainID = try chain(ScopedTarget(scope, .chain(id)), id).id
    case nil: break
    }
    try database.run(
      .insertChange,
      [
        sequence, scopes.interned(change.scope), accountID, chainID, change.kinds.rawValue,
        change.committedAt.rawValue,
      ])
    for (position, event) in change.events.enumerated() {
      try database.run(
        .insertChangeEvent,
        [
          sequence, position, event.kind.rawValue, event.notificationUUID.stored,
          event.originalTransactionID?.stored, event.transactionID?.stored,
          event.deadline?.rawValue, event.refetchReason?.rawValue, event.detail?.stored,
        ])
    }
  }
}
