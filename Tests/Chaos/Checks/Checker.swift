import EntitlementStore

/// Compares the stored data and the answers of the service with the recorded answers, while clients
/// go on, and again when they have ended.
struct Checker: Sendable {
  let load: LoadContext
  let pair: DatabasePair
  let store: any EntitlementStore
  let watchers: [FeedWatcher]
  let catalog: CatalogText
  private let facts: FactCheck
  private let states: StateCheck

  init(
    load: LoadContext, pair: DatabasePair, store: any EntitlementStore, watchers: [FeedWatcher],
    catalog: CatalogText
  ) {
    self.load = load
    self.pair = pair
    self.store = store
    self.watchers = watchers
    self.catalog = catalog
    facts = FactCheck(load: load)
    states = StateCheck(load: load, store: store, catalog: catalog.catalog)
  }

  /// The number of answers that are submitted again. All answers are looked up in the database.
  private static let sampledAnswers = 60
  private static let sampledAccounts = 60

  /// Checks while clients go on.
  func check() async throws {
    let database = pair.primary
    try await facts.checkDatabase(database)
    try await LinkCheck(load: load).checkDatabase(database)
    try await RevisionCheck(findings: load.findings).checkDatabase(database)
    try await FeedCheck(load: load, watchers: watchers).checkDatabase(database)
    try await facts.checkService(sample: Self.sampledAnswers)
    let accounts = load.board.accounts.shuffled().prefix(Self.sampledAccounts)
    await states.check(Array(accounts) + LoadContext.claimers, modes: [.consistent, .fresh])
  }

  /// Checks when clients have ended and the watchers go on.
  func checkAll() async throws {
    let database = pair.primary
    try await facts.checkDatabase(database)
    let links = LinkCheck(load: load)
    try await links.checkDatabase(database)
    try await links.checkService(database)
    try await RevisionCheck(findings: load.findings).checkDatabase(database)
    let feed = FeedCheck(load: load, watchers: watchers)
    await feed.awaitEnd(database)
    try await feed.checkDatabase(database)
    try await feed.checkAnswers(of: store, database)
    try await facts.checkService(sample: 20 * Self.sampledAnswers)
    // Until then cached answers may be as old as the staleness bound.
    try await Task.sleep(for: LoadContext.stalenessAllowed)
    await states.check(
      load.board.accounts, modes: [.latency, .consistent, .fresh])
    try await states.checkUnlinkedChains()
  }
}
