import EntitlementDomain
import EntitlementStore
import GRDB
import TestSupport
import Testing

@testable import SQLiteStore

/// Indexes have the first eight characters of a token, and the number of an app transaction id. All
/// identifiers here share that part with others.
@Suite("Identifiers that are alike in an index")
struct IdentifierPartsTests {
  private static let tokens: [AppAccountToken] = [
    "7e3fb204-2c8a-4d5f-9b1e-000000000001", "7e3fb204-2c8a-4d5f-9b1e-000000000002",
    "7E3FB204-2C8A-4D5F-9B1E-000000000001", "7e3FB204-2c8a-4d5f-9b1e-000000000001", "7e3fb204",
    "7e3fb20", "7e3fb204-", "7é3fb204", "7é3fb2045",
  ]

  private static let appTransactions: [AppTransactionID] = [
    "704512345678901234", "0704512345678901234", "00704512345678901234", " 704512345678901234",
    "+704512345678901234", "704512345678901234.0", "704512345678901234x",
    // The highest number of 64 bits, and what is more.
    "9223372036854775807", "9223372036854775808", "99999999999999999999", "99999999999999999998",
    // Xcode's, and what has no number.
    "0", "00", "-0", "xcode", "Xcode", "é",
  ]

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

  private static func chain(_ index: Int) -> String { String(100 + index) }

  /// - Returns: what a statement finds for each identifier: tokens, then app transactions.
  private func found(_ byToken: StoreStatement, _ byAppTransaction: StoreStatement) async throws
    -> [[String?]]
  {
    try await store.read { database in
      let scope = try #require(try database.scopeID(testScope))
      let byTokens = try Self.tokens.map { id in
        try database.rows(byToken, [scope, id.stored, id.stored]).map { $0[0] as String? }
      }
      return try byTokens
        + Self.appTransactions.map { id in
          try database.rows(byAppTransaction, [scope, id.stored, id.stored])
            .map { $0[0] as String? }
        }
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
