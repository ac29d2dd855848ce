import EntitlementDomain
import EntitlementStore

/// Every watcher was told of exactly the rows of the feed, in order.
struct FeedCheck: Sendable {
  let load: LoadContext
  let watchers: [FeedWatcher]

  private static let patience = Duration.seconds(60)
  private static let page = 1_000

  private struct Row: Sendable {
    let sequence: Int64
    /// Empty for whom no account is known.
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

  /// Up to the last change that a watcher has come to, nothing may be missing: the rest may be under
  /// way to it.
  func checkDatabase(_ database: DatabaseNode) async throws {
    let told = watchers.map(\.sequences)
    let rows = try await rows(database)
    for (watcher, told) in zip(watchers, told) {
      guard let last = told.last else { continue }
      let stored = expected(of: watcher, rows).prefix { $0 <= last }
      let missing = Set(stored).subtracting(told)
      for sequence in missing.sorted() {
        load.findings.add(.feedGap, "\(watcher.name): \(sequence) missing, told up to \(last)")
      }
      for sequence in Set(told).subtracting(stored).sorted() {
        load.findings.add(.feedGap, "\(watcher.name): \(sequence) was told, and is not stored")
      }
    }
  }

  /// Waits until all watchers have come to the end of the feed, which does not move any more.
  func awaitEnd(_ database: DatabaseNode) async {
    let deadline = ContinuousClock.now + Self.patience
    while let rows = try? await rows(database) {
      let late = watchers.filter { watcher in
        expected(of: watcher, rows).last ?? 0 > watcher.sequences.last ?? 0
      }
      if late.isEmpty { return }
      guard ContinuousClock.now < deadline else {
        for watcher in late {
          load.findings.add(.feedGap, "\(watcher.name) does not come to the end of the feed")
        }
        return
      }
      try? await Task.sleep(for: .milliseconds(200))
    }
  }

  /// The store's own pages are the rows, too.
  func checkAnswers(of store: any EntitlementStore, _ database: DatabaseNode) async throws {
    let rows = try await rows(database).map(\.sequence)
    var answered: [Int64] = []
    while true {
      let page = try await store.changes(after: answered.last ?? 0, limit: Self.page)
      answered += page.map(\.sequence)
      if page.count < Self.page { break }
    }
    if answered != rows {
      load.findings.add(.feedGap, "the store tells \(answered.count) of \(rows.count) changes")
    }
  }
}
