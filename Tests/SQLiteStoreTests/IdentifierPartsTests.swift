import EntitlementDomain
import EntitlementStore
import GRDB
import TestSupport
import Testing

@testable import SQLiteStore

/// Indexes have the first five bytes of a packed token, and the last five of a packed id of an app
/// transaction. Most identifiers here share that part with others.
@Suite("Identifiers that are alike in an index")
struct IdentifierPartsTests {
  private static let tokens: [AppAccountToken] = [
    "7e3fb204-2c8a-4d5f-9b1e-000000000001", "7e3fb204-2c8a-4d5f-9b1e-000000000002",
    "7E3FB204-2C8A-4D5F-9B1E-000000000001", "7E3FB204-2C8A-4D5F-9B1E-000000000002", "7e3fb204",
    "7e3fb20", "7e3fb204-", "7é3fb204", "7é3fb2045",
  ]

  private static let appTransactions = alike + short

  private static let alike: [AppTransactionID] = [
    // With the same last ten digits.
    "704512345678901234", "004512345678901234", "00704512345678901234", "5678901234",
    // Odd numbers of digits.
    "0704512345678901234", "9345678901234",
    // Text.
    " 704512345678901234", "+704512345678901234", "x01234", "xcode", "anxcode", "éxcode",
    // Digits with the bytes of a text, and UUIDs.
    "3031323334", "903031323334",
    "7e3fb204-2c8a-4d5f-9b1e-000000000001", "0e3fb204-2c8a-4d5f-9b1e-000000000001",
  ]

  /// What is shorter than a part.
  private static let short: [AppTransactionID] = ["0", "00", "-0", "é"]

  /// A fact of a chain of its own for each identifier; the chains are numbered in this order.
  private let facts: [SignedFact]
  private let folder: TemporaryFolder
  private let store: SQLiteStore

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore.open(at: folder.file("entitle.sqlite"))
    facts = (0..<Self.tokens.count + Self.appTransactions.count).map { index in
      var signed = testFact(100 + index)
      if case .transaction(var fact) = signed.fact {
        if index < Self.tokens.count {
          fact.appAccountToken = Self.tokens[index]
        } else {
          fact.appTransactionID = Self.appTransactions[index - Self.tokens.count]
        }
        signed.fact = .transaction(fact)
      }
      return signed
    }
  }

  @Test("Each identifier that is long enough shares its part with another")
  func parts() {
    let parts: [[ArraySlice<UInt8>]] = [
      Self.tokens.map { PackedIdentifier.bytes(of: $0.rawValue).prefix(5) },
      Self.alike.map { PackedIdentifier.bytes(of: $0.rawValue).suffix(5) },
    ]
    for parts in parts {
      for part in parts { #expect(parts.count { $0 == part } > 1, "\(Array(part))") }
    }
  }

  private static func chain(_ index: Int) -> String { String(100 + index) }

  /// - Returns: what a statement finds for each identifier: tokens, then app transactions.
  private func found(_ byToken: StoreStatement, _ byAppTransaction: StoreStatement) async throws
    -> [[String?]]
  {
    try await store.read { database in
      let scope = try #require(try database.scopeID(testScope))
      func chains(_ statement: StoreStatement, _ id: DatabaseValue) throws -> [String?] {
        try database.rows(statement, [scope, id, id]).map { row in
          let chain: OriginalTransactionID? = try row.packedIdentifier(0)
          return chain?.rawValue
        }
      }
      return try Self.tokens.map { try chains(byToken, $0.packed) }
        + Self.appTransactions.map { try chains(byAppTransaction, $0.packed) }
    }
  }

  @Test("Chains without an account are found by the whole of an identifier")
  func unlinkedChains() async throws {
    for fact in facts { try await store.submit(fact) }
    let found = try await found(.unlinkedChainsByToken, .unlinkedChainsByAppTransaction)
    #expect(found == facts.indices.map { [Self.chain($0)] })
    await store.close()
  }

  @Test("Chains with an account, and the history of links, are found by the whole of an identifier")
  func linkedChains() async throws {
    for (index, fact) in facts.enumerated() {
      _ = try await store.commit(
        Submission(facts: [fact], accountID: AccountID("customer-\(index)"), receivedAt: 3))
    }
    let found = try await found(.accountOfChainByToken, .accountOfChainByAppTransaction)
    #expect(found == facts.indices.map { [Self.chain($0)] })
    for (index, id) in Self.appTransactions.enumerated() {
      let account = AccountID("customer-\(Self.tokens.count + index)")
      let customer = try await store.customer(.appTransaction(id), in: testScope)
      #expect(customer.subject == .account(testScope, account), "\(id)")
    }
    await store.close()
  }

  @Test("Links of app transactions have the history of the whole identifier")
  func linkHistory() async throws {
    for (index, id) in Self.appTransactions.enumerated() {
      var signed = testFact(index)
      signed.signed.payload = Array(
        """
        {"receiptType":"\(testScope.environment.rawValue)","bundleId":"\(testScope.bundleID)",\
        "appTransactionId":"\(id)","originalApplicationVersion":"7","receiptCreationDate":2}
        """.utf8)
      var fact = AppTransactionFact(
        bundleID: testScope.bundleID, environment: testScope.environment, signedDate: 2,
        digest: testDigest(signed.signed.payload))
      fact.appTransactionID = id
      signed.fact = .appTransaction(fact)
      _ = try await store.commit(
        Submission(
          facts: [signed], accountID: AccountID("customer-\(index)"),
          receivedAt: Milliseconds(Int64(1_000 + index))))
    }
    for (index, id) in Self.appTransactions.enumerated() {
      let account = AccountID("customer-\(index)")
      let events = try await store.linkHistory(of: .appTransaction(id), in: testScope)
      #expect(events.map(\.to) == [account], "\(id)")
      let links = try #require(try await store.export(account, in: testScope)).links
      #expect(links.map(\.target) == [.appTransaction(id)])
      #expect(links.map(\.since) == [Milliseconds(Int64(1_000 + index))])
    }
    await store.close()
  }
}
