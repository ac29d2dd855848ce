import EntitlementDomain
import Testing

/// The authority of each source of an entitlement (R51), and its mention in explanations.
@Suite("Authority of sources")
struct SourceAuthorityTests {
  static let authorities: [FactAuthority] = [.signedTransaction, .receipt, .archivedResponse]

  private func evidence(of id: EntitlementID, in state: CustomerState) -> [FactAuthority?] {
    state.sources(of: id).map(\.evidence)
  }

  @Test("A purchase has the authority of its transaction", arguments: authorities)
  func purchase(_ authority: FactAuthority) {
    var period = Given.period(1, from: 0)
    period.authority = authority
    var forever = Given.purchase(2, product: "adfree", type: .nonConsumable, at: 0)
    forever.authority = authority
    let state = Given.state([period, forever], at: 1)
    #expect(evidence(of: "pro", in: state) == [authority])
    #expect(evidence(of: "basic", in: state) == [authority])
    #expect(evidence(of: "ad_free", in: state) == [authority])
  }

  @Test("Each source has its own authority, and of two versions that of the standing one")
  func several() {
    var first = Given.purchase(1, product: "season", type: .nonRenewing, at: 0)
    first.authority = .archivedResponse
    var second = Given.purchase(2, product: "season", type: .nonRenewing, at: 1)
    second.authority = .receipt
    #expect(
      evidence(of: "season", in: Given.state([first, second], at: 2))
        == [.receipt, .archivedResponse])
    var signed = first
    signed.authority = .signedTransaction
    for facts in [[first, signed], [signed, first]] {
      #expect(evidence(of: "season", in: Given.state(facts, at: 2)) == [.signedTransaction])
    }
  }

  @Test("R19, R24: after the end, the lower authority of transaction and renewal info counts")
  func renewal() {
    let grace = Given.renewal(signed: 30) {
      $0.gracePeriodExpiresDate = Given.day(40)
    }
    var leeway = Given.catalog
    leeway.renewalLeeway = 2 * Milliseconds.dayLength
    let cases: [(RenewalInfoFact, Catalog)] = [
      (grace, Given.catalog), (Given.renewal(signed: 30), leeway),
    ]
    for (info, catalog) in cases {
      for authority in Self.authorities {
        for infoAuthority in Self.authorities {
          var period = Given.period(1, from: 0)
          period.authority = authority
          var info = info
          info.authority = infoAuthority
          func evidence(at moment: Double) -> [FactAuthority?] {
            self.evidence(
              of: "pro", in: Given.state([period], [info], at: moment, catalog: catalog))
          }
          #expect(evidence(at: 29) == [authority])
          #expect(evidence(at: 31) == [min(authority, infoAuthority)])
        }
      }
    }
  }

  @Test("R30: a change of the authority is a transition")
  func transition() {
    var info = Given.renewal(signed: 30) { $0.gracePeriodExpiresDate = Given.day(40) }
    info.authority = .archivedResponse
    let state = Given.state([Given.period(1, from: 0)], [info], at: 29)
    #expect(state.nextTransitionAt == Given.day(30))
  }

  @Test("R32: a grant has no authority")
  func grant() {
    var record = Given.record([])
    record.grants = [Given.grant(1, from: 0)]
    let state = Evaluation.state(of: record, catalog: Given.catalog, at: Given.day(1))
    #expect(evidence(of: "pro", in: state) == [nil])
  }

  @Test("R37: a grandfathering rule has the authority of the app transaction that decided")
  func grandfathering() {
    for authority in Self.authorities {
      var record = Given.record([])
      var early = Given.app("a1", version: "12", at: -5)
      early.authority = authority
      // Another Apple account of the customer, which grants nothing.
      var late = Given.app("a2", version: "200", at: 5)
      late.authority = authority == .receipt ? .archivedResponse : .receipt
      record.facts = [.appTransaction(late), .appTransaction(early)]
      let state = Evaluation.state(
        of: record, catalog: Given.catalogWithRule(), at: Given.day(1))
      #expect(evidence(of: "pro", in: state) == [authority])
    }
  }

  @Test("R35: with simulated values there is no authority")
  func simulated() throws {
    var catalog = Given.catalogWithRule()
    catalog.grandfathering[Given.scope.bundleID]?[0].simulated = .init(
      originalVersion: AppVersion("1"), originalPurchaseDate: Given.day(-9))
    let scope = AppScope(bundleID: Given.scope.bundleID, environment: .sandbox)
    var app = Given.app(version: "200", at: 5)
    app.environment = .sandbox
    app.authority = .receipt
    for facts in [[], [Fact.appTransaction(app)]] {
      let record = CustomerRecord(scope: scope, accountID: "customer", facts: facts)
      let state = Evaluation.state(of: record, catalog: catalog, at: Given.day(1))
      #expect(evidence(of: "pro", in: state) == [nil])
    }
  }

  // MARK: Explanations

  private static func sentence(_ authority: FactAuthority) -> String? {
    switch authority {
    case .signedTransaction: nil
    case .receipt: "A legacy receipt says so."
    case .archivedResponse: "An unsigned import says so."
    }
  }

  private func expect(
    _ decision: Decision, toRestOn authority: FactAuthority,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for other in Self.authorities {
      guard let sentence = Self.sentence(other) else { continue }
      #expect(
        decision.sentence.contains(sentence) == (other == authority), "\(decision.sentence)",
        sourceLocation: sourceLocation)
    }
    #expect(decision.sentence.utf8.count <= 400, sourceLocation: sourceLocation)
  }

  @Test("An explanation mentions receipts and imports", arguments: authorities)
  func explained(_ authority: FactAuthority) throws {
    var period = Given.period(1, from: 0)
    period.authority = authority
    var replaced = Given.period(3, product: "basic.monthly", from: -30)
    replaced.authority = authority
    var forever = Given.purchase(2, product: "adfree", type: .nonConsumable, at: 0)
    forever.authority = authority
    var info = Given.renewal(signed: 0)
    info.authority = authority
    var record = Given.record([period, replaced, forever], [info])
    var app = Given.app(version: "12", at: -5)
    app.authority = authority
    record.facts.append(.appTransaction(app))
    let explanation = Evaluation.explain(
      record, catalog: Given.catalogWithRule(), at: Given.day(1))
    for id: EntitlementID in ["pro", "ad_free", "basic"] {
      let entitlement = try #require(
        explanation.entitlements.first { $0.entitlementID == id })
      expect(entitlement.reasoning.decision, toRestOn: authority)
      #expect(!entitlement.reasoning.considered.isEmpty)
      for item in entitlement.reasoning.considered {
        expect(item.decision, toRestOn: authority)
      }
    }
    expect(try #require(explanation.groups.first).reasoning.decision, toRestOn: authority)
  }

  @Test("The mention occurs once in a sentence, at the end")
  func explainedGroup() throws {
    var period = Given.period(1, from: 0)
    period.authority = .receipt
    let other = Given.period(2, of: "c2", from: -60)
    let explanation = Evaluation.explain(
      Given.record([period, other]), catalog: Given.catalog, at: Given.day(1))
    let sentence = try #require(explanation.groups.first).reasoning.decision.sentence
    #expect(sentence.hasPrefix("Of 2 chains, c1 stands above c2"))
    #expect(sentence.hasSuffix(". A legacy receipt says so."))
    #expect(sentence.ranges(of: "A legacy receipt").count == 1)
  }

  @Test("A long sentence is truncated before the mention")
  func longest() throws {
    let long = String(repeating: "identifier", count: 25)
    var period = Given.period(1, of: OriginalTransactionID("c" + long), from: 0)
    period.transactionID = TransactionID(long)
    period.productID = ProductID("basic." + long)
    period.authority = .archivedResponse
    var other = period
    other.originalTransactionID = OriginalTransactionID("d" + long)
    other.transactionID = TransactionID(long + "2")
    other.expiresDate = Given.day(10)
    let info = Given.renewal(of: period.originalTransactionID, signed: 30, product: nil) {
      $0.gracePeriodExpiresDate = Given.day(40)
    }
    let explanation = Evaluation.explain(
      Given.record([period, other], [info]), catalog: Given.catalog, at: Given.day(35))
    expect(try #require(explanation.groups.first).reasoning.decision, toRestOn: .archivedResponse)
  }
}
