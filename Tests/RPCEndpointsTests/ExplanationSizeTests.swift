import EntitlementDomain
import Framing
import NIOCore
import Testing
import Wire

@testable import RPCEndpoints

@Suite("Explanations fit a frame")
struct ExplanationSizeTests {
  private static let now: Milliseconds = 1_767_225_600_000
  private static let scope = AppScope(bundleID: "com.example.scribe", environment: .production)

  private static let catalog = Catalog(
    apps: [CatalogApp(bundleID: scope.bundleID, appAppleID: 1_234_567_890)],
    entitlements: [CatalogEntitlement(id: "pro"), CatalogEntitlement(id: "season")],
    products: [
      CatalogProduct(
        id: "com.example.scribe.pro", kind: .autoRenewable, group: "21000001",
        entitlements: ["pro"]),
      CatalogProduct(
        id: "com.example.scribe.season", kind: .nonRenewing,
        duration: CalendarDuration(days: 30), entitlements: ["season"]),
    ])

  enum Shape: CaseIterable {
    case chains, groups, purchases
  }

  /// - Parameter suffix: of every identifier.
  private func record(_ shape: Shape, _ count: Int, suffix: String = "") -> CustomerRecord {
    let facts = (0..<count).map { index in
      let id = "\(2_000_000_000_000_000 + index)" + suffix
      var fact = TransactionFact(
        bundleID: Self.scope.bundleID, environment: .production,
        originalTransactionID: OriginalTransactionID(id), transactionID: TransactionID(id),
        productID: "com.example.scribe.pro", type: .autoRenewable,
        purchaseDate: Self.now.advanced(by: -1_000), signedDate: Self.now,
        digest: PayloadDigest(words: (UInt64(index), 2)))
      fact.expiresDate = Self.now.advanced(by: Int64(index + 1) * 60_000)
      switch shape {
      case .chains: break
      case .groups:
        fact.productID = ProductID("com.example.scribe.magazine.\(index)" + suffix)
        fact.subscriptionGroupID = SubscriptionGroupID("\(21_000_000 + index)" + suffix)
      case .purchases:
        fact.productID = "com.example.scribe.season"
        fact.type = .nonRenewing
        fact.expiresDate = nil
      }
      return Fact.transaction(fact)
    }
    return CustomerRecord(scope: Self.scope, accountID: "customer", revision: 1, facts: facts)
  }

  private func answer(_ record: CustomerRecord) throws -> Explanation {
    let explanation = Evaluation.explain(record, catalog: Self.catalog, at: Self.now)
    let bytes = try EntitlementEndpoint.encoded(explanation)
    #expect(bytes.readableBytes <= RPCLimits.maximumFrameData - 1_024)
    return try ExplainCustomerStateResponse.decode(from: bytes).explanation
  }

  @Test(
    "R31: 10,000 and 100,000 chains, groups or purchases are explained in one frame, which says what it leaves out",
    arguments: [10_000, 100_000], Shape.allCases)
  func fits(count: Int, shape: Shape) throws {
    let explanation = try answer(record(shape, count))
    let omitted = try #require(explanation.omitted)
    switch shape {
    case .chains, .purchases: #expect(omitted == ExplanationOmissions(sources: count - 4_000))
    case .groups:
      #expect(omitted == ExplanationOmissions(groups: count - 500, products: count - 500))
    }
  }

  @Test("R31: very long identifiers shorten the lists further", arguments: Shape.allCases)
  func longIdentifiers(shape: Shape) throws {
    let explanation = try answer(
      record(shape, 1_000, suffix: String(repeating: "x", count: 8_192)))
    let omitted = try #require(explanation.omitted)
    #expect(omitted.groups == (shape == .groups ? 1_000 - explanation.groups.count : 0))
    #expect(!explanation.entitlements.isEmpty)
    #expect(
      explanation.groups.count + omitted.groups
        == (shape == .groups ? 1_000 : shape == .chains ? 1 : 0))
    #expect(shape == .groups ? explanation.groups.count < 500 : omitted.sources > 0)
  }
}
