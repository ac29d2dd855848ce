import AppStoreRecovery
import EntitlementDomain
import EntitlementService
import EntitlementStore
import RecoverySupport
import SQLiteStore
import StoreSimulator
import TestSupport
import Testing

/// R86–R88: the App Store asks by notifications, and gets what it asks for, once or not at all.
@Suite("Consumption", .timeLimit(.minutes(5)))
struct ConsumptionTests {
  private static let policies: [ProductID: ConsumptionPolicy] = [
    SimulatedApp.proMonthly.id: ConsumptionPolicy(
      sampleContentProvided: true, refundPreference: .grantProrated),
    SimulatedApp.season.id: ConsumptionPolicy(refundPreference: .decline, percentage: .fixed(250)),
    SimulatedApp.adFree.id: ConsumptionPolicy(),
    SimulatedApp.tokens.id: ConsumptionPolicy(percentage: .required),
  ]

  private static func run(
    seed: UInt64 = 1, _ body: (RecoveryBench) async throws -> Void
  ) async throws {
    try await RecoveryBench.run(seed: seed, policies: policies, body)
  }

  /// Anna's purchase.
  private func buy(
    _ product: SimulatedProduct, _ bench: RecoveryBench, consent: Bool? = true
  ) async throws -> String {
    let id = try await bench.buy(product, by: "anna-\(product.id)")
    try await bench.link(id, to: "anna")
    if let consent { try await bench.record(.consent("anna", isGiven: consent)) }
    return id
  }

  private func ask(_ transaction: String, _ bench: RecoveryBench) async throws {
    try await bench.act(
      "request-consumption", "{\"transactionId\":\"\(transaction)\",\"reason\":\"OTHER\"}")
  }

  private func events(_ bench: RecoveryBench) async throws -> [String] {
    try await bench.store.changes(after: 0, limit: 1_000).flatMap(\.events)
      .filter { [.consumptionSent, .consumptionNotSent].contains($0.kind) }
      .map { "\($0.kind) \($0.detail ?? "")" }
  }

  /// Runs the recovery until the request about a purchase has ended.
  private func end(
    _ transaction: String, _ bench: RecoveryBench
  ) async throws -> ConsumptionRequest {
    try await bench.recovering {
      let state = try await $0.consumption(of: transaction)?.state
      return state == .sent || state == .notSent
    }
    return try #require(try await bench.consumption(of: transaction))
  }

  @Test func `with consent each type of product gets what Apple asks of it`() async throws {
    try await Self.run { bench in
      let rows: [(SimulatedProduct, [String: String])] = [
        (
          SimulatedApp.proMonthly,
          ["refundPreference": "GRANT_PRORATED", "sampleContentProvided": "1"]
        ),
        (
          SimulatedApp.season,
          [
            "refundPreference": "DECLINE", "sampleContentProvided": "0",
            "consumptionPercentage": "250",
          ]
        ),
        (SimulatedApp.adFree, ["sampleContentProvided": "0"]),
        (
          SimulatedApp.tokens, ["sampleContentProvided": "0", "consumptionPercentage": "42500"]
        ),
      ]
      for (product, fields) in rows {
        let transaction = try await buy(product, bench)
        if product.id == SimulatedApp.tokens.id {
          try await bench.record(
            .statement(TransactionID(transaction), ConsumptionStatement(percentage: 42_500)))
        }
        try await ask(transaction, bench)
        #expect(try await end(transaction, bench).state == .sent, "\(product.id)")
        let received = try #require(try await bench.receivedConsumption().last)
        #expect(received["transactionId"] as? String == transaction)
        #expect(received["version"] as? Int == 2)
        let body = try #require(received["body"] as? [String: Any])
        var expected = fields
        expected["customerConsented"] = "1"
        expected["deliveryStatus"] = "DELIVERED"
        #expect(body.mapValues { "\($0)" } == expected, "\(product.id)")
      }
      #expect(try await bench.receivedConsumption().count == rows.count)
      #expect(try await events(bench).count == rows.count)
    }
  }

  @Test func `without consent nothing is sent, and it is told`() async throws {
    try await Self.run { bench in
      let transaction = try await buy(SimulatedApp.adFree, bench, consent: nil)
      try await ask(transaction, bench)
      #expect(try await end(transaction, bench).cause == .consentMissing)
      #expect(try await events(bench) == ["consumptionNotSent CONSENT_MISSING"])
      #expect(try await bench.receivedConsumption().isEmpty)
    }
  }

  @Test func `consent that is withdrawn while Apple cannot be told counts`() async throws {
    try await Self.run { bench in
      let transaction = try await buy(SimulatedApp.adFree, bench)
      try await bench.addFault(#"{"on":"api","kind":"error","errorCode":5000000}"#)
      try await ask(transaction, bench)
      try await bench.recovering {
        try await ($0.consumption(of: transaction)?.attempts ?? 0) >= 2
      }
      try await bench.record(.consent("anna", isGiven: false))
      try await bench.clearFaults()
      #expect(try await end(transaction, bench).cause == .consentRefused)
      #expect(try await bench.receivedConsumption().isEmpty)
    }
  }

  @Test func `a product without a policy, and a refunded purchase, are not told`() async throws {
    try await Self.run { bench in
      let other = try await buy(SimulatedApp.basicMonthly, bench)
      try await ask(other, bench)
      #expect(try await end(other, bench).cause == .policyMissing)
      let refunded = try await buy(SimulatedApp.adFree, bench)
      try await ask(refunded, bench)
      try await bench.act("refund", "{\"transactionId\":\"\(refunded)\"}")
      #expect(try await end(refunded, bench).cause == .purchaseRevoked)
      #expect(try await bench.receivedConsumption().isEmpty)
    }
  }

  @Test func `an outage of eleven hours is waited for`() async throws {
    try await Self.run { bench in
      let transaction = try await buy(SimulatedApp.adFree, bench)
      try await bench.addFault(#"{"on":"api","kind":"error","errorCode":5000000}"#)
      try await ask(transaction, bench)
      try await bench.recovering {
        try await ($0.consumption(of: transaction)?.attempts ?? 0) >= 3
      }
      try await bench.advance(hours: 11)
      let before = try await bench.consumption(of: transaction)?.attempts ?? 0
      try await bench.recovering {
        try await ($0.consumption(of: transaction)?.attempts ?? 0) > before
      }
      #expect(try await bench.consumption(of: transaction)?.detail.contains("5000000") == true)
      try await bench.clearFaults()
      let request = try await end(transaction, bench)
      #expect(request.state == .sent)
      #expect(bench.now < request.deadline)
      #expect(try await bench.receivedConsumption().count == 1)
    }
  }

  @Test func `after an outage of thirteen hours it is not sent, and told`() async throws {
    try await Self.run { bench in
      let transaction = try await buy(SimulatedApp.adFree, bench)
      try await bench.addFault(#"{"on":"api","kind":"error","errorCode":5000000}"#)
      try await ask(transaction, bench)
      try await bench.recovering {
        try await ($0.consumption(of: transaction)?.attempts ?? 0) >= 2
      }
      try await bench.advance(hours: 13)
      try await bench.clearFaults()
      #expect(try await end(transaction, bench).cause == .deadlinePassed)
      let events = try await events(bench)
      #expect(events.count == 1)
      #expect(events.first?.hasPrefix("consumptionNotSent DEADLINE_PASSED: ") == true, "\(events)")
      #expect(try await bench.receivedConsumption().isEmpty)
      let values = bench.recovery.values
      #expect(values.first { $0.name == "consumption.not_sent.deadline_passed" }?.value == 1)
      // Apple asks once more, and the customer has still consented.
      try await ask(transaction, bench)
      #expect(try await end(transaction, bench).state == .sent)
    }
  }

  @Test func `a percentage that comes later is waited for`() async throws {
    try await Self.run { bench in
      let transaction = try await buy(SimulatedApp.tokens, bench)
      try await ask(transaction, bench)
      try await bench.recovering {
        try await $0.consumption(of: transaction)?.cause == .percentageMissing
      }
      #expect(try await bench.receivedConsumption().isEmpty)
      try await bench.record(
        .statement(TransactionID(transaction), ConsumptionStatement(percentage: 0)))
      #expect(try await end(transaction, bench).state == .sent)
      let other = try await buy(SimulatedApp.tokens, bench)
      try await ask(other, bench)
      try await bench.recovering {
        try await $0.consumption(of: other)?.cause == .percentageMissing
      }
      try await bench.advance(hours: 12)
      #expect(try await end(other, bench).cause == .percentageMissing)
      #expect(try await bench.receivedConsumption().count == 1)
    }
  }

  @Test(arguments: [4_000_209, 4_000_185, 4_000_036, 4_000_048, 4_000_227])
  func `what Apple refuses is not repeated`(_ code: Int64) async throws {
    try await Self.run { bench in
      let transaction = try await buy(SimulatedApp.adFree, bench)
      try await bench.addFault("{\"on\":\"api\",\"kind\":\"error\",\"errorCode\":\(code)}")
      try await ask(transaction, bench)
      let request = try await end(transaction, bench)
      #expect(request.cause == .appleRefused && request.attempts == 1)
      #expect(request.detail.contains("\(code)"), "\(request.detail)")
    }
  }

  @Test(arguments: [
    #"{"on":"api","kind":"error","errorCode":4040010,"count":3}"#,
    #"{"on":"api","kind":"error","errorCode":5000001,"count":3}"#,
    #"{"on":"api","kind":"error","errorCode":4290000,"count":2}"#,
  ])
  func `an answer after which a call may succeed is followed by another`(_ fault: String)
    async throws
  {
    try await Self.run { bench in
      let transaction = try await buy(SimulatedApp.adFree, bench)
      try await bench.addFault(fault)
      try await ask(transaction, bench)
      #expect(try await end(transaction, bench).state == .sent)
      #expect(try await bench.receivedConsumption().count == 1)
    }
  }

  @Test func `a connection that ends without an answer is not repeated`() async throws {
    try await Self.run { bench in
      let transaction = try await buy(SimulatedApp.adFree, bench)
      try await bench.addFault(#"{"on":"api","kind":"cut","count":1}"#)
      try await ask(transaction, bench)
      let request = try await end(transaction, bench)
      #expect(request.cause == .outcomeUncertain && request.attempts == 1)
      #expect(try await bench.receivedConsumption().isEmpty)
      // By hand it is, when nothing more can become known.
      try await bench.advance(hours: 1)
      try await bench.record(.reopen(TransactionID(transaction), isDryRun: false))
      #expect(try await end(transaction, bench).state == .sent)
      #expect(try await bench.receivedConsumption().count == 1)
    }
  }

  /// What happened in a random order: nothing is sent without consent in force, and nothing twice.
  @Test(arguments: 0..<12)
  func `in any order of events it is sent once, with consent`(_ round: Int) async throws {
    var generator = SeededRandom(for: "consumption \(round)")
    let seed = UInt64.random(in: 1...1_000_000, using: &generator)
    try await Self.run(seed: seed) { bench in
      let transaction = try await bench.buy(SimulatedApp.tokens, by: "anna")
      let key = ConsumptionKey(bench.scope, TransactionID(transaction))
      var isConsented = false
      var isWithdrawnSinceSending = false
      var received = 0
      for step in 0..<14 {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: try await ask(transaction, bench)
        case 1:
          try await bench.record(.consent("anna", isGiven: true))
          isConsented = true
        case 2:
          try await bench.record(.consent("anna", isGiven: false))
          isConsented = false
        case 3:
          try await bench.record(
            .statement(
              key.transactionID,
              ConsumptionStatement(percentage: .random(in: 0...100_000, using: &generator))))
        case 4: try await bench.link(transaction, to: "anna")
        case 5: try await bench.advance(hours: Int64.random(in: 1...7, using: &generator))
        case 6: try await killDuringCall(key, bench)
        default: try await settle(key, bench)
        }
        let now = try await bench.receivedConsumption().count
        #expect(now <= 1, "step \(step) of seed \(seed)")
        if now > received { isWithdrawnSinceSending = !isConsented }
        received = now
      }
      #expect(!isWithdrawnSinceSending, "seed \(seed)")
    }
  }

  /// A process begins a call, and is gone before it made it.
  private func killDuringCall(_ key: ConsumptionKey, _ bench: RecoveryBench) async throws {
    let now = bench.jobsNow.advanced(by: 3_600_000)
    let jobs = try await bench.store.leaseJobs(
      AppStoreJobLease(
        scopes: [bench.scope], now: now, until: bench.jobsNow, lease: "killed", limit: 100))
    guard jobs.contains(where: { $0.key == key.job }) else { return }
    try await bench.record(.begin(key.transactionID, lease: "killed"))
  }

  /// Works until nothing changes any more at this moment.
  private func settle(_ key: ConsumptionKey, _ bench: RecoveryBench) async throws {
    try await bench.recovering { bench in
      guard let job = try await bench.store.job(.key(key.job)), job.state == .open else {
        return true
      }
      let request = try await bench.consumption(of: key.transactionID.rawValue)
      return job.lease == nil && request?.cause != nil
    }
  }
}
