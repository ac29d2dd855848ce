import EntitlementDomain
import EntitlementStore
import PostgresStore

/// The rows of many customers, in the form that `PostgresStore` writes.
struct BulkRows {
  /// The id of the header of all facts.
  private let header: Int64
  private var tables: BulkTableBuffers
  private let vault = PayloadVault()

  /// Sequence numbers reserved for each customer. They stay far below those of transactions, which
  /// begin at about 700 * 65,536 in a new cluster.
  private static let numbersPerCustomer: Int64 = 4

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// - Parameters:
  ///   - scope: the id of the app and environment.
  ///   - header: the id of the header.
  init(scope: Int64, header: Int64) {
    self.header = header
    tables = BulkTableBuffers(scope: scope)
  }

  /// The `psql` commands that load the rows in one transaction.
  var script: [UInt8] { tables.script }

  /// Keeps the allocated memory.
  mutating func removeAll() { tables.removeAll() }

  /// Adds the changes of a new customer.
  ///
  /// - Parameter index: of the customer. Its revisions are computed from it.
  /// - Throws: ``Failure`` when the changes contain something that a new customer cannot have.
  mutating func add(_ changes: LedgerChanges, ofCustomer index: Int) throws {
    guard changes.changes.count <= Self.numbersPerCustomer, changes.notifications.isEmpty,
      changes.grants.isEmpty, changes.releasedDocuments.isEmpty, changes.erasedAccounts.isEmpty,
      changes.jobs.isEmpty
    else {
      throw Failure(description: "customer \(index) has rows that bulk loading does not support")
    }
    let numbering = ChangeNumbering(base: Int64(index) * Self.numbersPerCustomer)
    for (account, write) in changes.accounts {
      let targets = changes.links
        .filter { $0.key.scope == account.scope && $0.value.row.account == account.id }
        .map(\.key.target.stored)
      add(account, write, targets, numbering)
    }
    let events = changes.plainLinkEvents
    for (target, write) in changes.links { add(target, write, events[target], numbering) }
    for (fact, write) in changes.facts { try add(fact, write) }
    for case (let token, let row?) in changes.tokens {
      tables.row(.tokens) { text in
        text.add(bytes: token.token.packedBytes)
        text.add(row.account?.rawValue)
        text.add(Int64(row.state.rawValue))
        text.add(row.since.rawValue)
      }
    }
    for (offset, event) in changes.linkEvents.enumerated()
    where events[event.target]?.place != offset + 1 {
      add(event, changes.formerAccounts(of: event), position: numbering.sequence(offset + 1))
    }
    for (offset, change) in changes.changes.enumerated() {
      add(change, sequence: numbering.sequence(offset + 1))
    }
  }

  private mutating func add(
    _ account: ScopedAccount, _ write: AccountWrite, _ targets: [[UInt8]],
    _ numbering: ChangeNumbering
  ) {
    tables.row(.accounts) { text in
      text.add(account.id.rawValue)
      text.add(write.changeOrdinal.map(numbering.sequence) ?? write.row.revision)
      text.add(write.changedAt.rawValue)
      text.add(write.row.mergedInto?.rawValue)
      text.add(write.row.isDeleted)
      text.add(Int64(write.row.claims))
      text.add(write.row.claimsSince?.rawValue)
      text.add(Int64(write.row.chains))
      text.add(bytes: targets.first)
      text.add(bytes: targets.dropFirst().first)
      text.add(targets.count > 2 ? Targets.array(Array(targets.dropFirst(2))) : nil)
    }
  }

  private mutating func add(
    _ target: ScopedTarget, _ write: LinkWrite, _ event: PlainLinkEvent?,
    _ numbering: ChangeNumbering
  ) {
    tables.row(.links) { text in
      text.add(bytes: target.target.stored)
      text.add(write.row.account?.rawValue)
      text.add(write.row.isUnsigned)
      text.add(write.row.isDetached)
      text.add(write.row.isFormerChain)
      text.add(Int64(write.row.standing.rawValue))
      text.add(write.changeOrdinal.map(numbering.sequence) ?? write.row.revision)
      text.add(write.changedAt.rawValue)
      text.add(event?.reason)
      text.add(event.map { numbering.sequence($0.place) })
    }
  }

  private mutating func add(_ fact: ScopedFact, _ write: FactWrite) throws {
    guard case .jws(_, let signature) = write.signed.signed.proof else {
      throw Failure(description: "bulk loading supports only facts of a JWS")
    }
    let target = write.target.stored
    let precedence = write.signed.fact.precedence
    let payload = vault.stored(write.signed.signed.payload, texts: write.rowTexts)
    tables.row(.facts) { [header] text in
      text.add(bytes: target)
      text.add(Int64(fact.key.kind.rawValue))
      text.add(bytes: fact.key.stored(in: write.target))
      text.add(Int64(precedence.authority.rawValue))
      text.add(header)
      text.add(precedence.signedDate.rawValue)
      text.add(precedence.isRevoked)
      text.add(precedence.isUpgraded)
      text.add(bytes: write.hints.appTransactionID.map(\.packedBytes))
      text.add(bytes: write.hints.appAccountToken.map(\.packedBytes))
      text.add(bytes: write.hints.previousChain.map(\.packedBytes))
      text.add(bytes: precedence.digest.bytes)
      text.add(bytes: signature)
      text.add(bytes: payload)
    }
    if fact.key.isListed(in: write.target) {
      tables.row(.transactions) { text in
        text.add(bytes: fact.key.packedIdentifier)
        text.add(bytes: target)
      }
    }
  }

  /// - Parameter accounts: the accounts of the event that do not have the target now. Each gets a row in
  ///   `account_events`.
  private mutating func add(
    _ write: LinkEventWrite, _ accounts: Set<AccountID>, position: Int64
  ) {
    let target = write.target.target.stored
    tables.row(.linkEvents) { text in
      text.add(bytes: target)
      text.add(position)
      text.add(write.event.at.rawValue)
      text.add(write.event.from?.rawValue)
      text.add(write.event.to?.rawValue)
      text.add(write.event.isFromErased)
      text.add(write.event.isToErased)
      text.add(write.event.reason.rawValue)
    }
    for account in accounts {
      tables.row(.accountEvents) { text in
        text.add(account.rawValue)
        text.add(position)
        text.add(bytes: target)
      }
    }
  }

  private mutating func add(_ change: ChangeWrite, sequence: Int64) {
    tables.write(.changes) { scope, text in
      text.add(sequence)
      text.add(change.committedAt.rawValue)
      text.add(scope)
      text.add(Int64(change.kinds.rawValue))
      switch change.subject {
      case .account(_, let account):
        text.add(account.rawValue)
        text.addNull()
      case .unlinkedChain(_, let chain):
        text.addNull()
        text.add(chain.rawValue)
      case nil:
        text.addNull()
        text.addNull()
      }
    }
  }
}
