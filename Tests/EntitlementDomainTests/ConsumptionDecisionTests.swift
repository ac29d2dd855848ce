import EntitlementDomain
import TestSupport
import Testing

@Suite("Consumption (R86–R88)")
struct ConsumptionDecisionTests {
  private static let deadline: Milliseconds = 100_000_000

  private static func transaction(
    _ type: ProductType = .consumable, _ change: (inout TransactionFact) -> Void = { _ in }
  ) -> TransactionFact {
    var fact = TransactionFact(
      bundleID: "com.example.reader", environment: .production, originalTransactionID: "1",
      transactionID: "1", productID: "com.example.reader.coins", type: type, purchaseDate: 1,
      signedDate: 2, digest: PayloadDigest(words: (1, 1)))
    change(&fact)
    return fact
  }

  /// A purchase about which everything is known.
  private static func situation(
    _ change: (inout ConsumptionSituation) -> Void = { _ in }
  ) -> ConsumptionSituation {
    var situation = ConsumptionSituation(
      deadline: deadline, transaction: transaction(), isOwned: true, consent: true,
      policy: ConsumptionPolicy())
    change(&situation)
    return situation
  }

  @Test("R87: what is missing for good ends the request, also long before the deadline")
  func endings() {
    let rows: [(ConsumptionCause, (inout ConsumptionSituation) -> Void)] = [
      (.policyMissing, { $0.policy = nil }),
      (.consentMissing, { $0.consent = nil }),
      (.consentRefused, { $0.consent = false }),
      (.purchaseRevoked, { $0.transaction?.revocationDate = 5 }),
      (.purchaseShared, { $0.transaction?.ownership = .familyShared }),
      (.purchaseShared, { $0.transaction?.ownership = .assigned }),
      (.purchaseShared, { $0.transaction?.ownership = OwnershipType(rawValue: "NEW") }),
    ]
    for (cause, change) in rows {
      #expect(Self.situation(change).decision(at: 0) == .end(cause))
    }
  }

  @Test("R87: what may still come is waited for, until a minute before the deadline")
  func waiting() {
    let rows: [(ConsumptionCause, (inout ConsumptionSituation) -> Void)] = [
      (.purchaseUnknown, { $0.transaction = nil }),
      (
        .ownerUnknown,
        {
          $0.isOwned = false; $0.consent = nil
        }
      ),
      (.percentageMissing, { $0.policy?.percentage = .required }),
    ]
    let last = Self.deadline.advanced(by: -60_001)
    for (cause, change) in rows {
      let situation = Self.situation(change)
      #expect(situation.decision(at: 0) == .wait(cause))
      #expect(situation.decision(at: last) == .wait(cause))
      #expect(situation.decision(at: last.advanced(by: 1)) == .end(cause))
    }
    let complete = Self.situation()
    #expect(complete.decision(at: last) == complete.decision(at: 0))
    #expect(complete.decision(at: last.advanced(by: 1)) == .end(.deadlinePassed))
  }

  typealias Row = (
    type: ProductType, policy: ConsumptionPolicy, statement: ConsumptionStatement,
    sent: ConsumptionInformation
  )

  private static func sent(
    _ status: ConsumptionInformation.DeliveryStatus = .delivered, sample: Bool = false,
    _ preference: ConsumptionInformation.RefundPreference? = nil, _ percentage: Int64? = nil
  ) -> ConsumptionInformation {
    ConsumptionInformation(
      customerConsented: true, sampleContentProvided: sample, deliveryStatus: status,
      refundPreference: preference, consumptionPercentage: percentage)
  }

  private static let rows: [Row] = [
    (.nonConsumable, ConsumptionPolicy(), ConsumptionStatement(), sent()),
    (
      .nonRenewing,
      ConsumptionPolicy(
        deliveryStatus: .serverOutage, sampleContentProvided: true, refundPreference: .grantFull),
      ConsumptionStatement(), sent(.serverOutage, sample: true, .grantFull)
    ),
    // Apple computes the percentage of a subscription, and prorates by it.
    (
      .autoRenewable, ConsumptionPolicy(refundPreference: .grantProrated),
      ConsumptionStatement(percentage: 7), sent(.delivered, .grantProrated)
    ),
    (
      .autoRenewable, ConsumptionPolicy(percentage: .required), ConsumptionStatement(), sent()
    ),
    (
      .consumable, ConsumptionPolicy(percentage: .required), ConsumptionStatement(percentage: 0),
      sent(.delivered, nil, 0)
    ),
    (.consumable, ConsumptionPolicy(percentage: .optional), ConsumptionStatement(), sent()),
    (
      .consumable, ConsumptionPolicy(percentage: .optional),
      ConsumptionStatement(percentage: 42_500), sent(.delivered, nil, 42_500)
    ),
    // Without a percentage in the policy none is sent.
    (.consumable, ConsumptionPolicy(), ConsumptionStatement(percentage: 42_500), sent()),
    (
      .consumable, ConsumptionPolicy(percentage: .fixed(1_000)),
      ConsumptionStatement(percentage: 5), sent(.delivered, nil, 1_000)
    ),
    // What was not delivered is not consumed, whatever is stated.
    (
      .consumable, ConsumptionPolicy(refundPreference: .grantProrated, percentage: .required),
      ConsumptionStatement(deliveryStatus: .wrongItem), sent(.wrongItem, nil, 0)
    ),
    (
      .consumable, ConsumptionPolicy(refundPreference: .decline, percentage: .fixed(1_000)),
      ConsumptionStatement(deliveryStatus: .other), sent(.other, .decline, 0)
    ),
    // Apple prorates only what is partly consumed.
    (
      .consumable, ConsumptionPolicy(refundPreference: .grantProrated, percentage: .required),
      ConsumptionStatement(percentage: 99_999), sent(.delivered, .grantProrated, 99_999)
    ),
    (
      .consumable, ConsumptionPolicy(refundPreference: .grantProrated, percentage: .required),
      ConsumptionStatement(percentage: 100_000), sent(.delivered, nil, 100_000)
    ),
  ]

  @Test("R87: what is sent for each type of product", arguments: rows.indices)
  func sending(_ index: Int) {
    let row = Self.rows[index]
    let situation = Self.situation {
      $0.transaction = Self.transaction(row.type)
      $0.policy = row.policy
      $0.statement = row.statement
    }
    #expect(situation.decision(at: 0) == .send(row.sent))
  }

  @Test("R86, R87: of random situations, none without consent is sent, and none that Apple refuses")
  func random() {
    var generator = SeededRandom(for: "consumption")
    for _ in 0..<20_000 {
      let situation = Self.randomSituation(using: &generator)
      let now = Milliseconds(.random(in: 0...120_000_000, using: &generator))
      guard case .send(let information) = situation.decision(at: now) else { continue }
      #expect(situation.consent == true && situation.isOwned && information.customerConsented)
      #expect(now < situation.deadline)
      #expect(situation.transaction?.revocationDate == nil)
      let percentage = information.consumptionPercentage
      #expect(situation.transaction?.type != .autoRenewable || percentage == nil)
      #expect(information.deliveryStatus == .delivered || (percentage ?? 0) == 0)
      if information.refundPreference == .grantProrated,
        situation.transaction?.type != .autoRenewable
      {
        #expect((1..<100_000).contains(percentage ?? 0))
      }
    }
  }

  private static func randomSituation(
    using generator: inout SeededRandom
  ) -> ConsumptionSituation {
    func flag() -> Bool { .random(using: &generator) }
    let types: [ProductType] = [.consumable, .nonConsumable, .nonRenewing, .autoRenewable]
    let percentages: [ConsumptionPolicy.Percentage?] = [
      nil, .required, .optional, .fixed(.random(in: 0...100_000, using: &generator)),
    ]
    typealias Information = ConsumptionInformation
    let preferences = Information.RefundPreference.allCases.map { Optional($0) } + [nil]
    let type = types.randomElement(using: &generator)!
    return ConsumptionSituation(
      deadline: deadline,
      transaction: flag() || flag()
        ? transaction(type) { if flag(), flag() { $0.revocationDate = 1 } } : nil,
      isOwned: flag() || flag(),
      consent: [true, true, false, nil].randomElement(using: &generator)!,
      statement: ConsumptionStatement(
        percentage: flag() ? .random(in: 0...100_000, using: &generator) : nil,
        deliveryStatus: flag()
          ? Information.DeliveryStatus.allCases.randomElement(using: &generator) : nil),
      policy: ConsumptionPolicy(
        deliveryStatus: Information.DeliveryStatus.allCases.randomElement(using: &generator)!,
        sampleContentProvided: flag(),
        refundPreference: preferences.randomElement(using: &generator)!,
        percentage: percentages.randomElement(using: &generator)!))
  }

  @Test("Percentages are read and written with at most three decimals")
  func percentages() {
    let rows: [(String, Int64)] = [
      ("0", 0), ("100", 100_000), ("42.5", 42_500), ("0.001", 1), ("99.999", 99_999), ("7", 7_000),
    ]
    for (text, thousandths) in rows {
      #expect(ConsumptionPercentage.thousandths(text) == thousandths)
      #expect(ConsumptionPercentage.text(thousandths) == text)
    }
    for text in ["", "-1", "100.001", "1.", ".5", "1.2345", "1e1", "101", "+1", "1,5", "٣"] {
      #expect(ConsumptionPercentage.thousandths(text) == nil, "\(text)")
    }
  }
}
