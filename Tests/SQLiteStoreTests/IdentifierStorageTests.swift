import EntitlementDomain
import EntitlementStore
import GRDB
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Packed ids and numbers of reasons in a database file")
struct IdentifierStorageTests {
  private let folder: TemporaryFolder
  private let path: String

  /// Ids of chains, each with a fact: numbers of even and odd lengths, and other texts.
  private static let chains = [
    "2000000123456789", "2000000123456788", "200000012345678", "7", "70", "705", "0", "00",
    "55aed4e5-4f40-4341-8705-54c19cce45e8", "55AED4E5-4F40-4341-8705-54C19CCE45E8", "7f", "-7",
    "é", "ff00", " ",
  ]

  private static let tokens: [AppAccountToken] = [
    "7e3fb204-2c8a-4d5f-9b1e-000000000001", "7E3FB204-2C8A-4D5F-9B1E-000000000001",
    "0e3fb204-2c8a-4d5f-9b1e-000000000001", "no uuid", "12",
  ]

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("entitle.sqlite")
  }

  /// A fact of one of ``chains``.
  private func fact(_ index: Int) -> SignedFact {
    let chain = Self.chains[index]
    var signed = testFact(100 + index)
    signed.signed.payload = Array(
      String(decoding: signed.signed.payload, as: UTF8.self)
        .replacing("\"\(100 + index)\"", with: "\"\(chain)\"").utf8)
    if case .transaction(var fact) = signed.fact {
      fact.originalTransactionID = OriginalTransactionID(chain)
      fact.transactionID = TransactionID(chain)
      fact.digest = testDigest(signed.signed.payload)
      signed.fact = .transaction(fact)
    }
    return signed
  }

  private func bindTokens(in store: SQLiteStore) async throws {
    for (number, token) in Self.tokens.enumerated() {
      let answer = try await store.perform(
        LinkRequest(
          scope: testScope, change: .bindToken(token, to: "alice"), onBehalfOf: "otto",
          reason: "why", at: Milliseconds(Int64(number))))
      guard case .done = answer else {
        Issue.record("\(token) was not bound: \(answer)")
        continue
      }
    }
  }

  /// Stores a fact, changes the closed database, and opens it again.
  private func reopened(after sql: String) async throws -> SQLiteStore {
    let store = try SQLiteStore.open(at: path)
    try await store.submit(testFact(1))
    await store.close()
    let queue = try DatabaseQueue(path: path)
    try await queue.write { try $0.execute(sql: sql) }
    try queue.close()
    return try SQLiteStore.open(at: path)
  }

  @Test("Ids take half their bytes")
  func sizes() async throws {
    let store = try SQLiteStore.open(at: path)
    try await store.submit(fact(0))
    try await bindTokens(in: store)
    await store.close()
    let queue = try DatabaseQueue(path: path)
    let lengths = try await queue.read { database in
      try Int.fetchAll(
        database,
        sql: """
          SELECT length(identifier) FROM facts WHERE identifier = x'2000000123456789'
          UNION ALL SELECT length(original_transaction_id) FROM chains
            WHERE original_transaction_id = x'2000000123456789'
          UNION ALL SELECT length(token) FROM account_tokens
            WHERE token = x'fe7e3fb2042c8a4d5f9b1e000000000001'
          """)
    }
    #expect(lengths == [8, 8, 17])
    try queue.close()
  }

  @Test("A packed id of no known form is an error of those who read it")
  func damagedIdentifier() async throws {
    let store = try await reopened(after: "UPDATE chains SET original_transaction_id = x'1b'")
    let error = await #expect(throws: StoreError.self) {
      try await store.unlinkedChains(in: testScope, after: nil, limit: 10)
    }
    #expect(error?.code == .corrupt)
    await store.close()
  }

  @Test("A reason of a link that no program stores is an error")
  func unknownReason() async throws {
    let store = try await reopened(
      after: """
        INSERT INTO link_history (chain_id, scope_id, reason, at, is_from_erased, is_to_erased)
          SELECT id, scope_id, 99, 10, 0, 0 FROM chains
        """)
    let error = await #expect(throws: StoreError.self) {
      try await store.linkHistory(of: .chain("1"), in: testScope)
    }
    #expect(error?.code == .corrupt)
    await store.close()
  }

  @Test("Pages of chains and tokens have each once, in the order of the packed ids")
  func pages() async throws {
    let store = try SQLiteStore.open(at: path)
    for index in Self.chains.indices { try await store.submit(fact(index)) }
    var chains: [OriginalTransactionID] = []
    while true {
      let page = try await store.unlinkedChains(in: testScope, after: chains.last, limit: 4)
      if page.isEmpty { break }
      chains += page.map(\.chain)
    }
    #expect(chains.map(\.rawValue) == Self.chains.sorted(by: Self.precedes))
    try await bindTokens(in: store)
    var tokens: [AppAccountToken] = []
    while true {
      let page = try await store.tokens(
        of: "alice", in: testScope, after: tokens.last, limit: 2)
      if page.isEmpty { break }
      tokens += page.map(\.token)
    }
    #expect(
      tokens.map(\.rawValue) == Self.tokens.map(\.rawValue).sorted(by: Self.precedes))
    await store.close()
  }

  private static func precedes(_ first: String, _ second: String) -> Bool {
    PackedIdentifier.bytes(of: first).lexicographicallyPrecedes(PackedIdentifier.bytes(of: second))
  }
}
