import EntitlementDomain
import EntitlementStore

/// Checks that every watcher got exactly the rows of the feed, in order.
struct FeedCheck: Sendable {
  let load: LoadContext
  let watchers: [FeedWatcher]

  private static let patience = Duration.seconds(60)
  private static let page = 1_000

  private struct Row: Sendable {
    let sequence: Int64
    /// Empty when the account is unknown.
    let account: Substring
  }

  private func rows(_ database: DatabaseNode) async throws -> [Row] {
    try await database.rows("SELECT sequence, coalesce(account, '') FROM changes ORDER BY sequence")
      .compactMap { row in
        guard row.count == 2, let sequence = Int64(row[0]) else { return nil }
        return Row(sequence: sequence, account: row[1])
      }
  }

  private func expected(of watcher: FeedWatcher, _ rows: [Row]) -> [Int64] {
    let accounts = Set(watcher.accounts.map { Substring($0.rawValue) })
    return rows.filter { accounts.isEmpty || accounts.contains($0.account) }.map(\.sequence)
  }

  /// Nothing may be missing up to the last change that a watcher has got. Later changes may be on
  /// their way.
  func checkDatabase(_ database: DatabaseNode) async throws {
    let told = watchers.map(\.sequences)
    let rows = try await rows(database)
    for (watcher, told) in zip(watchers, told) {
      guard let last = told.last else { continue }
      let stored = expected(of: watcher, rows).prefix { $0 <= last }
      let missing = Set(stored).subtracting(told)
      for sequence in missing.sorted() {
        load.findings.add(.feedGap, "\(watcher.name): \(sequence) missing, received up to \(last)")
      }
      for sequence in Set(told).subtracting(stored).sorted() {
        load.findings.add(.feedGap, "\(watcher.name): \(sequence) was sent, and is not stored")
      }
    }
  }

  /// Waits until all watchers have reached the end of the feed. The feed no longer grows.
  func awaitEnd(_ database: DatabaseNode) async {
    let deadline = ContinuousClock.now + Self.patience
    while let rows = try? await rows(database) {
      let late = watchers.filter { watcher in
        expected(of: watcher, rows).last ?? 0 > watcher.sequences.last ?? 0
      }
      if late.isEmpty { return }
      guard ContinuousClock.now < deadline else {
        for watcher in late {
          load.findings.add(.feedGap, "\(watcher.name) does not reach the end of the feed")
        }
        return
      }
      try? await Task.sleep(for: .milliseconds(200))
    }
  }

  /// Checks that the pages of the store are the rows of the feed.
  func checkAnswers(of store: any EntitlementStore, _ database: DatabaseNode) async throws {
    let rows = try await rows(database).map(\.sequence)
    var answered: [Int64] = []
    while true {
      let page = try await store.changes(after: answered.last ?? 0, limit: Self.page)
      answered += page.map(\.sequence)
      if page.count < Self.page { break }
    }
    if answered != rows {
      load.findings.add(.feedGap, "the store returns \(answered.count) of \(rows.count) changes")
    }
  }
}
