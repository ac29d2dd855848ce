import EntitlementDomain
import EntitlementStore
import Foundation
import GRDB
import SQLiteStore

/// A database with all kinds of pages, and everything that can be read from it.
struct DamagedFile {
  /// A page, with what it belongs to.
  struct Page {
    let number: Int
    /// The table or index; nil for a free page.
    let owner: String?
    /// `leaf`, `internal` or `overflow`; `free` for a free page.
    let kind: String
    let isIndex: Bool
  }

  static let customers = 40
  static let pageSize = 4_096

  let pages: [Page]
  /// The whole file.
  let bytes: [UInt8]
  /// The file before the last change of each customer.
  let olderBytes: [UInt8]
  /// The payloads of facts as they are stored.
  let payloads: [[UInt8]]

  static func account(_ number: Int) -> AccountID { AccountID("customer-\(number)") }

  private static func grant(_ number: Int) -> Grant {
    Grant(
      id: GrantID("5d0c9f2a-7b1e-4e63-9a44-\(100_000_000_000 + number)"), scope: testScope,
      accountID: account(number), entitlementID: "pro", starts: Milliseconds(Int64(number)),
      expires: Milliseconds(1_000_000 + Int64(number)), reason: "a gift", author: "otto",
      createdAt: 40)
  }

  static func make(at path: String) async throws -> DamagedFile {
    var store = try SQLiteStore.open(at: path)
    // Payloads of some pages have overflow pages.
    for number in 1...customers {
      let padding = number.isMultiple(of: 5) ? 9_000 : 600
      _ = try await store.commit(
        Submission(
          facts: [testFact(number, padding: padding)],
          accountID: number.isMultiple(of: 7) ? nil : account(number), receivedAt: 3))
      if number.isMultiple(of: 2) { _ = try await store.addGrant(grant(number)) }
    }
    await store.close()
    try addFreePages(path)
    let older = [UInt8](try Data(contentsOf: URL(filePath: path)))
    store = try SQLiteStore.open(at: path)
    for number in 1...customers where !number.isMultiple(of: 7) {
      _ = try await store.commit(
        Submission(
          facts: [testFact(1_000 + number, padding: 300)], accountID: account(number),
          receivedAt: 5))
    }
    await store.close()
    return DamagedFile(
      pages: try pages(of: path), bytes: [UInt8](try Data(contentsOf: URL(filePath: path))),
      olderBytes: older, payloads: try payloads(of: path))
  }

  private static func addFreePages(_ path: String) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { database in
      try database.execute(
        sql: """
          CREATE TABLE dropped (bytes BLOB);
          INSERT INTO dropped
            WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 60)
            SELECT zeroblob(1000) FROM number;
          DROP TABLE dropped;
          """)
    }
    try queue.close()
  }

  private static func payloads(of path: String) throws -> [[UInt8]] {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.read { database in
      try Data.fetchAll(database, sql: "SELECT payload FROM facts").map { [UInt8]($0) }
    }
  }

  private static func pages(of path: String) throws -> [Page] {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.read { database in
      var pages: [Int: Page] = [:]
      let indexes = Set(
        try String.fetchAll(database, sql: "SELECT name FROM sqlite_schema WHERE type = 'index'"))
      for row in try Row.fetchAll(database, sql: "SELECT pageno, name, pagetype FROM dbstat") {
        let owner: String = row[1]
        pages[row[0]] = Page(
          number: row[0], owner: owner, kind: row[2], isIndex: indexes.contains(owner))
      }
      let count = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
      return (1...count).map {
        pages[$0] ?? Page(number: $0, owner: nil, kind: "free", isIndex: false)
      }
    }
  }

  /// What the store answers to every question, by the question. A failed read has its error's code.
  static func answers(of store: SQLiteStore) async -> [String: Result<String, StoreError>] {
    var answers: [String: Result<String, StoreError>] = [:]
    func ask(_ question: String, _ read: () async throws -> String) async {
      do {
        answers[question] = .success(try await read())
      } catch {
        answers[question] = .failure(error as? StoreError ?? StoreError(.internalFault, "\(error)"))
      }
    }
    for number in 1...customers {
      let account = account(number)
      let chain = OriginalTransactionID("\(number)")
      await ask("customer \(number)") {
        try await text(.account(account), store)
      }
      await ask("chain \(number)") {
        try await text(.originalTransaction(chain), store)
      }
      await ask("history \(number)") {
        "\(String(describing: try await store.history(of: account, in: testScope)))"
      }
      await ask("links \(number)") { "\(try await store.links(of: account, in: testScope))" }
      await ask("export \(number)") {
        "\(String(describing: try await store.export(account, in: testScope)))"
      }
    }
    await ask("feed") { "\(try await store.changes(after: 0, limit: 10_000))" }
    await ask("accounts") { "\(try await store.accounts(in: testScope, after: nil, limit: 1_000))" }
    await ask("unlinked") {
      "\(try await store.unlinkedChains(in: testScope, after: nil, limit: 1_000))"
    }
    return answers
  }

  private static func text(_ selector: CustomerSelector, _ store: SQLiteStore) async throws
    -> String
  {
    var customer = try await store.customers([CustomerLookup(selector, in: testScope, .primary)])[0]
      .get()
    customer.record.facts.sort { $0.digest < $1.digest }
    return "\(customer)"
  }
}
