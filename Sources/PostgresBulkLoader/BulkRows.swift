import EntitlementDomain
import EntitlementStore

/// The rows of many customers, in the form that `PostgresStore` writes.
struct BulkRows {
  /// The id of the header of all facts.
  private let header: Int64
  private var tables: BulkTableBuffers
  /// With the shipped dictionary: the database is new.
  private let vault = PayloadVault()
  /// Hints of the current customer, to skip duplicates: facts of one target share most of their
  /// hints.
  private var hints: Set<[String]> = []

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
    hints.removeAll(keepingCapacity: true)
    let numbering = ChangeNumbering(base: Int64(index) * Self.numbersPerCustomer)
    for (account, write) in changes.accounts { add(account, write, numbering) }
    for (target, write) in changes.links { add(target, write, numbering) }
    for (fact, write) in changes.facts { try add(fact, write) }
    // A customer of its own contests nothing, so all tokens are learned, as the column says.
    for (token, row) in changes.tokens {
      tables.row(.tokens) { text in
        text.add(token.token.rawValue)
        text.add(row?.account?.rawValue)
      }
    }
    for (offset, event) in changes.linkEvents.enumerated() {
      add(event, position: numbering.sequence(offset + 1))
    }
    for (offset, change) in changes.changes.enumerated() {
      add(change, sequence: numbering.sequence(offset + 1))
    }
  }

  private mutating func add(
    _ account: ScopedAccount, _ write: AccountWrite, _ numbering: ChangeNumbering
  ) {
    tables.row(.accounts) { text in
      text.add(account.id.rawValue)
      text.add(write.changeOrdinal.map(numbering.sequence) ?? write.row.revision)
      text.add(write.changedAt.rawValue)
      text.add(write.row.mergedInto?.rawValue)
      text.add(write.row.isDeleted)
      text.add(Int64(write.row.claims))
      text.addNull()
      text.add(Int64(write.row.chains))
    }
  }

  private mutating func add(
    _ target: ScopedTarget, _ write: LinkWrite, _ numbering: ChangeNumbering
  ) {
    let name = Self.name(of: target.target)
    tables.row(.links) { text in
      text.add(name)
      text.add(write.row.account?.rawValue)
      text.add(write.row.isUnsigned)
      text.add(write.row.isDetached)
      text.add(write.changeOrdinal.map(numbering.sequence) ?? write.row.revision)
      text.add(write.changedAt.rawValue)
    }
    guard let account = write.row.account else { return }
    tables.row(.accountLinks) { text in
      text.add(account.rawValue)
      text.add(name)
    }
  }

  private mutating func add(_ fact: ScopedFact, _ write: FactWrite) throws {
    guard case .jws(_, let signature) = write.signed.signed.proof else {
      throw Failure(description: "bulk loading supports only facts of a JWS")
    }
    let target = Self.name(of: write.target)
    let precedence = write.signed.fact.precedence
    let payload = vault.stored(write.signed.signed.payload)
    tables.row(.facts) { [header] text in
      text.add(target)
      text.add(Int64(fact.key.kind.rawValue))
      text.add(fact.key.identifier)
      text.add(Int64(precedence.authority.rawValue))
      text.add(header)
      text.add(precedence.signedDate.rawValue)
      text.add(precedence.isRevoked)
      text.add(precedence.isUpgraded)
      text.add(write.hints.appTransactionID?.rawValue)
      text.add(write.hints.appAccountToken?.rawValue)
      text.add(write.hints.previousChain?.rawValue)
      text.add(bytes: precedence.digest.bytes)
      text.add(bytes: signature)
      text.add(bytes: payload)
    }
    if fact.key.kind == .transaction {
      tables.row(.transactions) { text in
        text.add(fact.key.identifier)
        text.add(target)
      }
    }
    addHints(write.hints, of: target)
  }

  private mutating func addHints(_ found: FactHints, of target: String) {
    let names = [
      found.appAccountToken.map { "a" + $0.rawValue },
      found.appTransactionID.map { "t" + $0.rawValue },
      found.previousChain.map { "p" + $0.rawValue },
    ]
    for case let name? in names where hints.insert([name, target]).inserted {
      tables.row(.hints) { text in
        text.add(name)
        text.add(target)
      }
    }
  }

  private mutating func add(_ write: LinkEventWrite, position: Int64) {
    let target = Self.name(of: write.target.target)
    tables.row(.linkEvents) { text in
      text.add(target)
      text.add(position)
      text.add(write.event.at.rawValue)
      text.add(write.event.from?.rawValue)
      text.add(write.event.to?.rawValue)
      text.add(write.event.isFromErased)
      text.add(write.event.isToErased)
      text.add(write.event.reason.rawValue)
    }
    for case let account? in [write.event.from, write.event.to] {
      tables.row(.accountEvents) { text in
        text.add(account.rawValue)
        text.add(position)
        text.add(target)
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

  /// The stored form of a target.
  private static func name(of target: LinkTarget) -> String {
    switch target {
    case .chain(let chain): "c" + chain.rawValue
    case .appTransaction(let id): "t" + id.rawValue
    }
  }
}
