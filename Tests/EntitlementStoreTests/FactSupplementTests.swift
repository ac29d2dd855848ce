import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@Suite("Statements that complete a standing transaction (R92)")
struct FactSupplementTests {
  private static let rounds = 3_000

  /// A statement of the transaction 1, with a payload from which it can be decoded.
  private static func statement(
    _ form: FactAuthority, signed moment: Int64, revokedAt: Int64? = nil, isUpgraded: Bool = false
  ) throws -> SignedFact {
    let revocation = revokedAt.map { ",\"revocationDate\":\($0)" } ?? ""
    let payload = Array(
      """
      {"transactionId":"1","originalTransactionId":"1","bundleId":"\(Sample.scope.bundleID.rawValue)",\
      "environment":"Production","productId":"com.example.reader.monthly","purchaseDate":0,\
      "expiresDate":2592000000,"signedDate":\(moment)\(revocation),"isUpgraded":\(isUpgraded)}
      """.utf8)
    var signed = Sample.transaction("1", "1", version: moment) {
      $0.revocationDate = revokedAt.map { Milliseconds($0) }
      $0.isUpgraded = isUpgraded
      $0.authority = form
      $0.type = ProductType(rawValue: "")
      $0.ownership = nil
    }
    signed.fact.digest = try StoredPayload.digest(of: payload)
    signed.signed.payload = payload
    if form < .signedTransaction { signed.signed.proof = .document(payload) }
    return signed
  }

  private static func random(_ random: inout SeededRandom) throws -> SignedFact {
    let form = [FactAuthority.archivedResponse, .receipt, .signedTransaction].randomElement(
      using: &random)
    return try statement(
      form ?? .receipt, signed: Int64.random(in: 1...8, using: &random),
      revokedAt: [nil, nil, 1, 2].randomElement(using: &random) ?? nil,
      isUpgraded: form != .receipt && Int.random(in: 0..<3, using: &random) == 0)
  }

  /// By the table of R92, from all statements at once.
  private static func expected(_ statements: [SignedFact]) throws -> (
    revokedAt: Milliseconds?, Bool
  ) {
    func standing(_ form: FactAuthority) -> TransactionFact? {
      statements.map(\.fact).filter { $0.authority == form }.max { $0.precedence < $1.precedence }
        .flatMap { if case .transaction(let fact) = $0 { fact } else { nil } }
    }
    let (archive, receipt) = (standing(.archivedResponse), standing(.receipt))
    if let signed = standing(.signedTransaction) {
      let counts = receipt.map { $0.signedDate > signed.signedDate } ?? false
      let addsDate = counts && signed.revocationDate == nil && !signed.isUpgraded
      return (addsDate ? receipt?.revocationDate : signed.revocationDate, signed.isUpgraded)
    }
    if let receipt { return (receipt.revocationDate, archive?.isUpgraded ?? false) }
    let only = try #require(archive)
    return (only.revocationDate, only.isUpgraded)
  }

  private static func stored(_ model: ModelStore) throws -> ModelStore.StoredFact {
    try #require(
      model.facts[ScopedFact(Sample.scope, FactKey(kind: .transaction, identifier: "1"))])
  }

  @Test(
    "R3: what is kept and what it says are a function of the statements, in any order and batches")
  func order() throws {
    var random = SeededRandom(for: "supplements")
    for round in 0..<Self.rounds {
      let statements = try (0..<Int.random(in: 1...7, using: &random)).map { _ in
        try Self.random(&random)
      }
      var kept: [ModelStore.StoredFact] = []
      for _ in 0..<2 {
        var waiting = statements.shuffled(using: &random)
        waiting += waiting.prefix(2)
        var model = ModelStore()
        while !waiting.isEmpty {
          let count = Int.random(in: 1...waiting.count, using: &random)
          try model.submit(Array(waiting.suffix(count)))
          waiting.removeLast(count)
        }
        kept.append(try Self.stored(model))
      }
      #expect(kept[0].signed == kept[1].signed, "round \(round)")
      #expect(kept[0].supplement == kept[1].supplement, "round \(round)")
      guard case .transaction(let fact) = kept[0].completed else { continue }
      let expected = try Self.expected(statements)
      #expect(fact.revocationDate == expected.0, "round \(round)")
      #expect(fact.isUpgraded == expected.1, "round \(round)")
    }
  }

  @Test("Nothing is kept beside JWS alone")
  func usual() throws {
    var model = ModelStore()
    for moment: Int64 in [3, 1, 2, 5] {
      try model.submit([Self.statement(.signedTransaction, signed: moment)])
    }
    #expect(try Self.stored(model).supplement == nil)
  }

  @Test("A receipt beside an older JWS is a change only if it tells of another revocation")
  func changes() throws {
    var model = ModelStore()
    try model.submit([Self.statement(.signedTransaction, signed: 1)])
    let cases: [(SignedFact, Bool)] = [
      (try Self.statement(.receipt, signed: 2), false),
      (try Self.statement(.receipt, signed: 3, revokedAt: 1), true),
      (try Self.statement(.receipt, signed: 4, revokedAt: 1), false),
      (try Self.statement(.receipt, signed: 3, revokedAt: 1), false),
      (try Self.statement(.receipt, signed: 5), true),
    ]
    for (statement, isChange) in cases {
      let receipt = try model.submit([statement])
      #expect(receipt.dispositions == [.superseded])
      #expect(receipt.changed.isEmpty == !isChange, "\(statement.fact.precedence.signedDate)")
    }
  }
}
