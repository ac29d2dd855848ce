import EntitlementDomain
import EntitlementStore
import PayloadCompression

/// Makes the commands that write what a ledger decided, one for each kind of row.
///
/// The commands depend on the locks of the transaction. What a command does to a row does not
/// depend on its current values, unless the statement says so.
struct ChangeWriter {
  let changes: LedgerChanges
  /// The rows that the ledger read, with the former values of rows that are moved or deleted.
  let rows: LoadedRows
  let scopes: PostgresScopeIDs
  let headers: HeaderIDs
  let vault: PayloadVault
  /// The events that are kept with their links.
  let plainEvents: [ScopedTarget: PlainLinkEvent]
  private(set) var commands: [PostgresCommand] = []

  /// - Throws: ``StoreError/Code/internalFault`` when there are more changes than sequence numbers,
  ///   or hashing a document fails.
  init(
    _ changes: LedgerChanges, rows: LoadedRows, scopes: PostgresScopeIDs, headers: HeaderIDs,
    vault: PayloadVault
  ) throws(StoreError) {
    self.changes = changes
    self.rows = rows
    self.scopes = scopes
    self.headers = headers
    self.vault = vault
    plainEvents = changes.plainLinkEvents
    guard
      max(changes.changes.count, changes.linkEvents.count)
        <= FeedNumbers.maximumChangesOfTransaction
    else { throw StoreError(.internalFault, "a transaction has too many changes") }
    try addFormerVersions()
    try addFacts()
    addVersions()
    addReleasedDocuments()
    addLinks()
    addAccounts()
    addTokens()
    addGrants()
    try addNotifications()
    addJobs()
    addConsumption()
    addLinkEvents()
    addRefusedClaims()
    try addChanges()
  }

  // MARK: Facts

  private mutating func addFacts() throws(StoreError) {
    if changes.facts.isEmpty { return }
    var documents: [PayloadDigest: [UInt8]] = [:]
    var added = FactColumns()
    var replaced = FactColumns()
    var moved = Columns4<[UInt8]>()
    var addedTransactions = Columns3<[UInt8], [UInt8]>()
    var movedTransactions = Columns3<[UInt8], [UInt8]>()
    var returnedTransactions = Columns2<[UInt8]>()
    for (fact, write) in changes.facts {
      let scope = scopes[fact.scope]
      let kind = Int64(fact.key.kind.rawValue)
      var signature: [UInt8] = []
      var header: [UInt8] = []
      var document: PayloadDigest?
      switch write.signed.signed.proof {
      case .jws(let jwsHeader, let jwsSignature):
        header = jwsHeader
        signature = jwsSignature
      case .document(let bytes):
        let digest = try StoredPayload.digest(of: bytes)
        documents[digest] = bytes
        document = digest
      }
      let row = FactColumns.Row(
        write: write, scope: scope, header: headers[header], signature: signature,
        document: document, payload: stored(write.signed.signed.payload, texts: write.rowTexts))
      guard let stored = write.storedTarget else {
        added.add(row)
        if fact.key.isListed(in: write.target) {
          addedTransactions.add(
            scope, fact.key.packedIdentifier, write.target.stored)
        }
        continue
      }
      replaced.add(row)
      if stored == write.target { continue }
      moved.add(scope, stored.stored, kind, fact.key.stored(in: stored))
      if fact.key.isListed(in: write.target) {
        movedTransactions.add(
          scope, fact.key.packedIdentifier, write.target.stored)
      } else if fact.key.isListed(in: stored) {
        returnedTransactions.add(scope, fact.key.packedIdentifier)
      }
    }
    if !documents.isEmpty {
      // Sorted, because transactions that write the same document may share no other lock. The
      // order prevents deadlocks.
      let sorted = documents.sorted { $0.key < $1.key }
      add(
        WriteStatements.writeDocuments,
        [
          .byteStrings(sorted.map(\.key.bytes)),
          .byteStrings(sorted.map { stored($0.value) }),
        ])
    }
    add(WriteStatements.deleteFacts, moved.values, count: moved.count)
    add(WriteStatements.addFacts, added.values, count: added.count)
    add(WriteStatements.writeFacts, replaced.values, count: replaced.count)
    add(
      WriteStatements.addTransactions, addedTransactions.values, count: addedTransactions.count)
    add(
      WriteStatements.writeTransactions, movedTransactions.values,
      count: movedTransactions.count)
    add(
      WriteStatements.deleteTransactions, returnedTransactions.values,
      count: returnedTransactions.count)
  }

  /// Runs after the facts are written.
  private mutating func addReleasedDocuments() {
    let digests = changes.releasedDocuments.sorted().map(\.bytes)
    if digests.isEmpty { return }
    add(WriteStatements.lockDocuments, [.byteStrings(digests)])
    add(WriteStatements.deleteDocuments, [.byteStrings(digests)])
  }

  // MARK: Grants

  /// The account is part of a grant's key, so a grant that moves to another account is deleted and
  /// inserted.
  private mutating func addGrants() {
    var left = Columns4<String>()
    var grants: [Grant] = []
    for (key, grant) in changes.grants {
      if let stored = rows.grants[key], stored.accountID != grant?.accountID {
        left.add(
          scopes[key.scope], stored.accountID.rawValue, stored.createdAt.rawValue,
          key.id.rawValue)
      }
      if let grant { grants.append(grant) }
    }
    add(WriteStatements.deleteGrants, left.values, count: left.count)
    if grants.isEmpty { return }
    add(
      WriteStatements.writeGrants,
      [
        .int64s(grants.map { scopes[$0.scope] }), .texts(grants.map(\.accountID.rawValue)),
        .int64s(grants.map(\.createdAt.rawValue)), .texts(grants.map(\.id.rawValue)),
        .texts(grants.map(\.entitlementID.rawValue)), .int64s(grants.map(\.starts.rawValue)),
        .int64s(grants.map(\.expires?.rawValue)), .texts(grants.map(\.reason)),
        .texts(grants.map(\.author)), .int64s(grants.map(\.withdrawal?.at.rawValue)),
        .texts(grants.map(\.withdrawal?.author)), .texts(grants.map(\.withdrawal?.reason)),
        .texts(grants.map(\.onBehalfOf)), .texts(grants.map(\.withdrawal?.onBehalfOf)),
      ])
  }

  // MARK: Notifications, history and feed

  private mutating func addNotifications() throws(StoreError) {
    let writes = changes.notifications
    if writes.isEmpty { return }
    var headerIDs: [Int64?] = []
    var signatures: [[UInt8]?] = []
    var payloads: [[UInt8]?] = []
    for write in writes {
      guard case .jws(let header, let signature) = write.notification.signed.proof else {
        throw StoreError(.internalFault, "a notification is not a JWS")
      }
      headerIDs.append(headers[header])
      signatures.append(signature)
      payloads.append(stored(write.notification.signed.payload, header: header))
    }
    let records = writes.map(\.notification.record)
    add(
      WriteStatements.writeNotifications,
      [
        .texts(records.map(\.uuid.rawValue)), .int64s(records.map { $0.scope.map { scopes[$0] } }),
        .int64s(headerIDs), .int64s(records.map(\.status)),
        .int64s(records.map(\.signedDate?.rawValue)),
        .int64s(writes.map(\.receivedAt.rawValue)), .texts(records.map(\.type)),
        .texts(records.map(\.subtype)),
        .byteStrings(writes.map { $0.chain.map { LinkTarget.chain($0).stored } }),
        .byteStrings(records.map(\.digest.bytes)), .byteStrings(signatures),
        .byteStrings(payloads),
      ])
  }

  private mutating func addJobs() {
    let added = changes.jobs.values.filter { $0.id == nil }
    let written = changes.jobs.values.filter { $0.id != nil }
    add(
      JobStatements.add,
      PostgresValue.jobKeys(added.map(\.key), scopes) + PostgresValue.jobColumns(added),
      count: added.count)
    add(
      JobStatements.write,
      [.int64s(written.map(\.id))] + PostgresValue.jobColumns(written), count: written.count)
  }

  private mutating func addConsumption() {
    let added = changes.consumption.values.filter { $0.id == nil }
    let written = changes.consumption.values.filter { $0.id != nil }
    add(
      ConsumptionStatements.add,
      [
        .int64s(added.map { scopes[$0.key.scope] }),
        .texts(added.map(\.key.transactionID.rawValue)),
      ] + PostgresValue.consumptionColumns(added), count: added.count)
    add(
      ConsumptionStatements.write,
      [.int64s(written.map(\.id))] + PostgresValue.consumptionColumns(written),
      count: written.count)
    var consents: [(account: ScopedAccount, consent: ConsumptionConsent)] = []
    var gone = Columns2<String>()
    for (account, consent) in changes.consents {
      if let consent {
        consents.append((account, consent))
      } else {
        gone.add(scopes[account.scope], account.id.rawValue)
      }
    }
    add(
      ConsumptionStatements.writeConsents,
      [
        .int64s(consents.map { scopes[$0.account.scope] }),
        .texts(consents.map(\.account.id.rawValue)), .bools(consents.map(\.consent.isGiven)),
        .int64s(consents.map(\.consent.at.rawValue)), .texts(consents.map(\.consent.author)),
        .texts(consents.map(\.consent.onBehalfOf)), .texts(consents.map(\.consent.note)),
      ], count: consents.count)
    add(ConsumptionStatements.deleteConsents, gone.values, count: gone.count)
  }

  private mutating func addChanges() throws(StoreError) {
    let writes = changes.changes
    if writes.isEmpty { return }
    var accounts: [String?] = []
    var chains: [String?] = []
    for write in writes {
      switch write.subject {
      case .account(_, let account):
        accounts.append(account.rawValue)
        chains.append(nil)
      case .unlinkedChain(_, let chain):
        accounts.append(nil)
        chains.append(chain.rawValue)
      case nil:
        accounts.append(nil)
        chains.append(nil)
      }
    }
    add(
      WriteStatements.writeChanges,
      [
        .int64s(writes.indices.map { Int64($0) + 1 }),
        .int64s(writes.map(\.committedAt.rawValue)), .int64s(writes.map { scopes[$0.scope] }),
        .int64s(writes.map { Int64($0.kinds.rawValue) }), .texts(accounts), .texts(chains),
        .byteStrings(writes.map { $0.events.isEmpty ? nil : StoredEvents.encode($0.events) }),
      ])
  }

  // MARK: Steps

  /// The bytes to store of a payload or document.
  func stored(_ payload: [UInt8], header: [UInt8]? = nil, texts: RowTexts = .none) -> [UInt8] {
    vault.stored(payload, header: header, texts: texts)
  }

  mutating func add(
    _ statement: PostgresStatement, _ values: [PostgresValue], count: Int = 1
  ) {
    if count > 0 { commands.append(PostgresCommand(statement, values)) }
  }
}
