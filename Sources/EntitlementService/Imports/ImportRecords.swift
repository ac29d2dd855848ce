package import EntitlementDomain
package import EntitlementStore

/// Imports of accounts, for operators (R89). What does the work is elsewhere.
package struct ImportRecords: Sendable {
  private let store: any EntitlementStore
  private let catalog: CatalogHolder
  private let reach: JobRecords.Reach
  private let jobClock: ServiceClock

  /// - Parameter jobClock: the clock of all moments of jobs: the system's, unless a test replaces it.
  package init(
    store: any EntitlementStore, catalog: CatalogHolder, jobClock: ServiceClock = .system,
    reach: @escaping JobRecords.Reach
  ) {
    self.store = store
    self.catalog = catalog
    self.reach = reach
    self.jobClock = jobClock
  }

  // MARK: Adding

  /// Adds rows, or tells what would become of them.
  ///
  /// - Parameter permits: Whether the caller may use an app and environment.
  /// - Returns: one outcome for each row, in order.
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for a name or an app that is not
  ///   valid, and for rows that are not in order; ``ServiceError/Code-swift.enum/failedPrecondition``
  ///   when this server has no key for the app, or a row is stored with other values;
  ///   ``ServiceError/Code-swift.enum/resourceExhausted`` when too many rows are stored.
  package func add(
    _ accounts: [AccountToImport], to id: String, of app: BundleID, isDryRun: Bool,
    permits: (AppScope) -> Bool, _ audit: ChangeAudit
  ) async throws(ServiceError) -> [AccountImportAnswer.Outcome] {
    let name = try Self.name(id, of: app)
    try audit.checkImport()
    let environments = try environments(of: app).filter {
      permits(AppScope(bundleID: app, environment: $0))
    }
    for (former, next) in zip(accounts, accounts.dropFirst()) where former.row >= next.row {
      throw ServiceError(
        .invalidArgument(field: "rows"), "the rows are not in the order of their numbers")
    }
    guard let first = accounts.first, first.row > 0, let last = accounts.last else {
      throw ServiceError(.invalidArgument(field: "rows"), "a row needs a number of at least 1")
    }
    let now = jobClock.now()
    var batch = AccountImportBatch(
      name: name,
      rows: accounts.map {
        $0.row(of: name, app: app, environments: environments, at: now)
      },
      at: now, author: audit.caller.name, isDryRun: true)
    let stored = try await header(of: name)
    if isDryRun { return try await checkLinks(of: outcomes(of: batch)) }
    var isNew = true
    // A repeated call stores nothing, and leaves no entry (R76).
    if let stored, stored.lastRow >= last.row {
      isNew = try await outcomes(of: batch).contains { !$0.wasKnown }
    }
    if isNew {
      try await record("ImportAccounts", name, of: batch.rows[0].scope, audit)
    }
    batch.isDryRun = false
    return try await outcomes(of: batch)
  }

  private func outcomes(
    of batch: AccountImportBatch
  ) async throws(ServiceError) -> [AccountImportAnswer.Outcome] {
    switch try await asking({ () throws(StoreError) in try await store.add(batch) }) {
    case .rows(let outcomes): return outcomes
    case .differs(let number):
      throw ServiceError(.failedPrecondition, "row \(number) is stored with other values")
    case .full:
      throw ServiceError(
        .resourceExhausted,
        "the imports would have more than \(AccountImportLimits.rows) rows: delete those that are "
          + "done")
    }
  }

  /// Finds rows whose transaction belongs to another account now, or whose token a request bound to another
  /// one.
  private func checkLinks(
    of outcomes: [AccountImportAnswer.Outcome]
  ) async throws(ServiceError) -> [AccountImportAnswer.Outcome] {
    var outcomes = outcomes
    for index in outcomes.indices {
      let row = outcomes[index].row
      guard !outcomes[index].wasKnown, row.state == .waiting else { continue }
      if try await otherOwner(of: .transaction(row.transaction), than: row) != nil {
        outcomes[index].row.state = .failed
        outcomes[index].row.reason = .linkedElsewhere
        outcomes[index].row.detail = "the purchase belongs to another account"
      } else if let token = row.token,
        let owner = try await otherOwner(of: .appAccountToken(token), than: row),
        try await isBound(token, to: owner, in: row.scope)
      {
        outcomes[index].row.state = .failed
        outcomes[index].row.reason = .tokenElsewhere
        outcomes[index].row.detail = "the token is bound to another account"
      }
    }
    return outcomes
  }

  /// The account of a customer if it is not that of the row.
  private func otherOwner(
    of selector: CustomerSelector, than row: AccountImportRow
  ) async throws(ServiceError) -> AccountID? {
    guard let owner = try await account(selector, in: row.scope), owner != row.account else {
      return nil
    }
    // The account of the row may be an alias.
    return owner == (try await account(.account(row.account), in: row.scope)) ? nil : owner
  }

  /// Whether a request bound a token of an account (R71).
  private func isBound(
    _ token: AppAccountToken, to account: AccountID, in scope: AppScope
  ) async throws(ServiceError) -> Bool {
    var last: AppAccountToken?
    repeat {
      let after = last
      let page = try await asking { () throws(StoreError) in
        try await store.tokens(of: account, in: scope, after: after, limit: Self.tokensOfPage)
      }
      if let known = page.first(where: { $0.token == token }) { return known.row.state == .bound }
      last = page.count == Self.tokensOfPage ? page.last?.token : nil
    } while last != nil
    return false
  }

  private func account(
    _ selector: CustomerSelector, in scope: AppScope
  ) async throws(ServiceError) -> AccountID? {
    let found = try await asking { () throws(StoreError) in
      try await store.resolve(selector, in: scope)
    }
    if case .account(_, let account) = found.subject { return account }
    return nil
  }

  // MARK: Queries

  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` for an unknown import.
  package func summary(
    of id: String, of app: BundleID
  ) async throws(ServiceError) -> AccountImportSummary {
    guard let summary = try await summary(of: try Self.name(id, of: app)) else {
      throw Self.unknown
    }
    return summary
  }

  /// A page of the imports.
  ///
  /// - Parameter app: only of this one; nil: all.
  /// - Returns: those of the page that are selected, and the id after which the next page begins; nil at
  ///   the end.
  package func imports(
    of app: BundleID?, after: Int64, limit: Int
  ) async throws(ServiceError) -> (imports: [AccountImportSummary], next: Int64?) {
    let page = try await asking { () throws(StoreError) in
      try await store.imports(.after(after, limit: limit))
    }
    return (
      page.filter { app == nil || $0.bundleID == app }, page.count == limit ? page.last?.id : nil
    )
  }

  /// A page of the rows of an import in environments that the caller may use, and the number after which
  /// the next page begins; nil at the end.
  ///
  /// - Throws: As ``summary(of:of:)``.
  package func rows(
    of id: String, of app: BundleID, in state: AccountImportRow.State, after: Int64, limit: Int,
    permits: (AppScope) -> Bool
  ) async throws(ServiceError) -> (rows: [AccountImportRow], next: Int64?) {
    guard let summary = try await header(of: try Self.name(id, of: app)) else {
      throw Self.unknown
    }
    let rows = try await asking { () throws(StoreError) in
      try await store.importRows(
        AccountImportRowQuery(
          name: summary.name, state: state, scopes: Self.visible(summary.bundleID, permits),
          after: after, limit: limit))
    }
    return (rows, rows.count == limit ? rows.last?.place.number : nil)
  }

  // MARK: Changes

  /// Batches of one call of ``change(_:of:_:permits:_:)``.
  private static let batches = 25

  /// Changes the rows of an import, with an entry of the audit trail if there are any. Rows of environments
  /// that the caller may not use stay as they are.
  ///
  /// - Returns: how many rows were changed, and whether all of them were.
  /// - Throws: As ``summary(of:of:)``; ``ServiceError/Code-swift.enum/failedPrecondition`` when rows are
  ///   to be done again and this server has no key for the app, and when an import is to be deleted that has
  ///   rows of an environment that the caller may not use.
  package func change(
    _ id: String, of app: BundleID, _ kind: AccountImportChange.Kind,
    permits: (AppScope) -> Bool, _ audit: ChangeAudit
  ) async throws(ServiceError) -> (count: Int, isComplete: Bool) {
    try audit.checkImport()
    let summary = try await summary(of: id, of: app)
    let affected: [AccountImportRow.State] =
      switch kind {
      case .cancel: [.waiting]
      case .retry: [.failed, .cancelled]
      case .delete: AccountImportRow.State.allCases
      }
    let environments: Set<StoreEnvironment> =
      kind == .retry ? try environments(of: summary.bundleID) : [.production, .sandbox]
    let scopes = environments.map { AppScope(bundleID: summary.bundleID, environment: $0) }
      .filter(permits)
    // An import whose accounts were deleted has no rows, and can be deleted.
    guard kind == .delete || affected.contains(where: { summary.count($0) > 0 }),
      let scope = scopes.first(where: { $0.environment == .production }) ?? scopes.first
    else { return (0, true) }
    if kind == .delete { try await checkDeletion(of: summary, permits) }
    let method =
      switch kind {
      case .cancel: "CancelImport"
      case .retry: "RetryImport"
      case .delete: "DeleteImport"
      }
    try await record(method, summary.name, of: scope, audit)
    var count = 0
    for _ in 0..<Self.batches {
      let changed = try await asking { () throws(StoreError) in
        try await store.change(
          AccountImportChange(
            name: summary.name, kind: kind, scopes: scopes, at: jobClock.now()))
      }
      count += changed ?? 0
      if (changed ?? 0) < AccountImportLimits.changedRows { return (count, true) }
    }
    return (count, false)
  }

  // MARK: Steps

  private func environments(of app: BundleID) throws(ServiceError) -> Set<StoreEnvironment> {
    _ = try catalog.snapshot.app(app)
    let environments = reach(app)
    guard !environments.isEmpty else {
      throw ServiceError(
        .failedPrecondition, "this server has no key of the App Store Server API for \(app)")
    }
    return environments
  }

  /// Refuses the deletion of rows that the caller does not see.
  private func checkDeletion(
    of summary: AccountImportSummary, _ permits: (AppScope) -> Bool
  ) async throws(ServiceError) {
    let visible = Self.visible(summary.bundleID, permits)
    let hidden = Self.scopes(of: summary.bundleID).filter { !visible.contains($0) }
    if hidden.isEmpty { return }
    for state in AccountImportRow.State.allCases where summary.count(state) > 0 {
      let rows = try await asking { () throws(StoreError) in
        try await store.importRows(
          AccountImportRowQuery(name: summary.name, state: state, scopes: hidden, limit: 1))
      }
      if !rows.isEmpty {
        throw ServiceError(
          .failedPrecondition, "the import has rows of an environment that the caller may not use")
      }
    }
  }

  /// Without the counts.
  private func header(
    of name: AccountImportName
  ) async throws(ServiceError) -> AccountImportSummary? {
    try await asking { () throws(StoreError) in try await store.imports(.header(name)) }.first
  }

  private func summary(
    of name: AccountImportName
  ) async throws(ServiceError) -> AccountImportSummary? {
    try await asking { () throws(StoreError) in try await store.imports(.named(name)) }.first
  }

  private func record(
    _ method: String, _ name: AccountImportName, of scope: AppScope, _ audit: ChangeAudit
  ) async throws(ServiceError) {
    let call = AuditCall(
      method: method, caller: audit.caller, scope: scope, onBehalfOf: audit.onBehalfOf,
      reason: audit.reason, subject: "import \(name)", at: jobClock.now())
    try await asking { () throws(StoreError) in try await store.record(call) }
  }

  private func asking<Answer>(
    _ body: () async throws(StoreError) -> Answer
  ) async throws(ServiceError) -> Answer {
    do throws(StoreError) {
      return try await body()
    } catch {
      throw ServiceError(error)
    }
  }

  private static func name(
    _ id: String, of app: BundleID
  ) throws(ServiceError) -> AccountImportName {
    let isPlain = id.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    guard isPlain, (1...AccountImportName.maximumLength).contains(id.utf8.count) else {
      throw ServiceError(
        .invalidArgument(field: "import_id"),
        "import_id has 1 to \(AccountImportName.maximumLength) letters, digits, hyphens and "
          + "underscores")
    }
    return AccountImportName(id, of: app)
  }

  private static func scopes(of app: BundleID) -> [AppScope] {
    StoreEnvironment.allCases.map { AppScope(bundleID: app, environment: $0) }
  }

  /// Whose rows a caller sees. Rows of an environment that the App Store does not serve are not valid:
  /// who may use Production and the Sandbox sees them.
  private static func visible(_ app: BundleID, _ permits: (AppScope) -> Bool) -> [AppScope] {
    let all = scopes(of: app)
    let served = all.filter { [.production, .sandbox].contains($0.environment) }
    return served.allSatisfy(permits) ? all : all.filter(permits)
  }

  private static let tokensOfPage = 1_000

  private static let unknown = ServiceError(.notFound, "the import is not known")
}

/// A row as a caller sends it.
package struct AccountToImport: Hashable, Sendable {
  package var row: Int64
  package var account: AccountID
  package var transaction: TransactionID
  package var token: AppAccountToken?
  package var environment: StoreEnvironment
  /// With Production: whether the Sandbox is asked if Production does not know the transaction.
  package var asksSandboxToo: Bool

  package init(
    row: Int64, account: AccountID, transaction: TransactionID, token: AppAccountToken? = nil,
    environment: StoreEnvironment = .production, asksSandboxToo: Bool = false
  ) {
    self.row = row
    self.account = account
    self.transaction = transaction
    self.token = token
    self.environment = environment
    self.asksSandboxToo = asksSandboxToo
  }

  /// The row to store: a failed one if it is not accepted.
  ///
  /// - Parameter environments: those of the app that the server serves and the caller may use.
  fileprivate func row(
    of name: AccountImportName, app: BundleID, environments: Set<StoreEnvironment>,
    at now: Milliseconds
  ) -> AccountImportRow {
    let mayFallBack =
      environment == .production && asksSandboxToo && environments.contains(.sandbox)
    let asked =
      mayFallBack && !environments.contains(.production) ? StoreEnvironment.sandbox : environment
    var stored = AccountImportRow(
      place: AccountImportRow.Place(name, row),
      scope: AppScope(bundleID: app, environment: asked),
      fallsBack: mayFallBack && asked == .production,
      account: account, transaction: transaction,
      token: token.map { AppAccountToken($0.rawValue.lowercased()) }, dueAt: now, changedAt: now)
    if let problem {
      stored.state = .failed
      stored.reason = .invalid
      stored.detail = problem
      // What cannot be stored as text is left out.
      if account.rawValue.utf8.contains(0) { stored.account = AccountID("") }
      if transaction.rawValue.utf8.contains(0) { stored.transaction = TransactionID("") }
      if token?.rawValue.utf8.contains(0) == true { stored.token = nil }
    } else if !environments.contains(asked) {
      stored.state = .failed
      stored.reason = .notServed
      stored.detail = "the server does not ask the App Store for this environment of the app"
    }
    return stored
  }

  /// What is not valid; nil if all is.
  private var problem: String? {
    if account.rawValue.isEmpty || account.rawValue.utf8.contains(0) {
      return "the account is empty or contains a NUL"
    }
    let id = transaction.rawValue.utf8
    guard (1...64).contains(id.count),
      id.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return "a transaction id has 1 to 64 digits" }
    if let token, TokenNamespace(token.rawValue) == nil {
      return "the app account token is not a UUID"
    }
    if ![.production, .sandbox].contains(environment) {
      return "the App Store serves no environment \(environment.rawValue)"
    }
    return nil
  }
}

extension ChangeAudit {
  fileprivate func checkImport() throws(ServiceError) {
    if !reason.isEmpty { try RequestText.check(reason, as: "reason", limit: LinkLimits.reason) }
    try RequestText.checkOnBehalfOf(onBehalfOf)
  }
}
