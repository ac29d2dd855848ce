import EntitlementDomain
import Testing

@Suite("Whether what was fetched explains why")
struct RefetchReviewTests {
  private static let all = Set(RefetchReason.allCases)

  private func remaining(
    of reasons: Set<RefetchReason> = Self.all, _ transactions: [TransactionFact],
    _ infos: [RenewalInfoFact] = [], status: SubscriptionStatus?, hasPayload: Bool = true,
    at day: Double
  ) -> Set<RefetchReason> {
    RefetchReview.remaining(
      reasons, of: "c1", in: Given.scope,
      facts: transactions.map { .transaction($0) } + infos.map { .renewalInfo($0) },
      status: status, hasPayload: hasPayload, catalog: Given.catalog, at: Given.day(day))
  }

  @Test("R80: facts that agree with Apple leave no reason")
  func explained() {
    let period = Given.period(1, from: 0)
    #expect(remaining([period], status: .active, at: 5) == [])
    #expect(remaining([period], status: .expired, at: 5) == [.statusMismatch])
    // Only what was asked for remains.
    #expect(remaining(of: [.payloadMissing], [period], status: .expired, at: 5) == [])
    #expect(
      remaining(of: [.payloadMissing], [period], status: .active, hasPayload: false, at: 5)
        == [.payloadMissing])
  }

  @Test("R80: a status that Apple does not tell explains nothing")
  func noStatus() {
    let period = Given.period(1, from: 0)
    #expect(remaining(of: [.statusMismatch], [period], status: nil, at: 5) == [.statusMismatch])
    #expect(remaining(of: [.statusMismatch], [], status: nil, at: 5) == [.statusMismatch])
    #expect(remaining([], status: .active, at: 5) == Self.all.subtracting([.payloadMissing]))
  }

  @Test("R80: a notice remains while the facts give it")
  func notices() {
    let upgraded = Given.period(1, from: 0) { $0.isUpgraded = true }
    #expect(
      remaining(of: [.successorMissing], [upgraded], status: .active, at: 5) == [.successorMissing])
    let successor = Given.period(2, from: 3) { $0.productID = "pro.yearly" }
    #expect(
      remaining(of: [.successorMissing], [upgraded, successor], status: .active, at: 5) == [])

    let early = Given.period(2, from: 30) {
      $0.signedDate = Given.day(29)
      $0.transactionReason = "RENEWAL"
    }
    #expect(
      remaining(of: [.predecessorMissing], [early], status: .active, at: 29.5)
        == [.predecessorMissing])
    #expect(
      remaining(
        of: [.predecessorMissing], [early, Given.period(1, from: 0)], status: .active, at: 29.5)
        == [])
  }

  @Test("R80: a renewal that is overdue for Apple too is explained")
  func overdue() {
    let period = Given.period(1, from: 0)
    let info = Given.renewal(signed: 1) { $0.renewalDate = Given.day(30) }
    #expect(
      remaining(of: [.renewalOverdue], [period], [info], status: .active, at: 31) == [
        .renewalOverdue
      ])
    #expect(remaining(of: [.renewalOverdue], [period], [info], status: .expired, at: 31) == [])
  }

  @Test("R80: facts of other chains and environments say nothing")
  func otherChains() {
    let period = Given.period(1, from: 0) { $0.originalTransactionID = "another" }
    #expect(remaining(of: [.statusMismatch], [period], status: .active, at: 5) == [.statusMismatch])
  }
}
