import EntitlementDomain
import StoreSimulator
import Wire

/// What became of everything that was handed in.
struct SubmissionTally: Sendable {
  private(set) var factCount = 0
  private(set) var notificationCount = 0
  private(set) var refusedCount = 0
  /// The first refusals, in words for people.
  private(set) var refusals: [String] = []
  private var dispositions: [SubmissionDisposition: Int] = [:]

  /// Refusals that are told in words; all are counted. They mostly have one cause.
  private static let maximumRefusals = 20

  mutating func add(_ results: [SubmittedItemResult], of customer: SimulatedCustomer) {
    for result in results {
      if result.verdict == .ok {
        factCount += 1
      } else {
        refuse(result.verdict, result.detail, of: customer)
      }
      if let disposition = result.disposition { dispositions[disposition, default: 0] += 1 }
    }
  }

  mutating func add(_ response: SubmitNotificationResponse, of customer: SimulatedCustomer) {
    if response.verdict == .ok {
      notificationCount += 1
      add(response.results, of: customer)
    } else {
      refuse(response.verdict, response.detail, of: customer)
    }
  }

  mutating func add(_ other: SubmissionTally) {
    factCount += other.factCount
    notificationCount += other.notificationCount
    refusedCount += other.refusedCount
    refusals += other.refusals.prefix(Self.maximumRefusals - refusals.count)
    dispositions.merge(other.dispositions, uniquingKeysWith: +)
  }

  private mutating func refuse(
    _ verdict: SubmissionVerdict, _ detail: String?, of customer: SimulatedCustomer
  ) {
    refusedCount += 1
    guard refusals.count < Self.maximumRefusals else { return }
    refusals.append(
      "\(customer.accountID) (\(customer.timeline.lifeCycle.rawValue)): refused, \(verdict)"
        + (detail.map { ": \($0)" } ?? ""))
  }

  /// One line for people.
  var summary: String {
    let parts = SubmissionDisposition.allCases.map { "\(dispositions[$0] ?? 0) \($0)" }
    return "\(factCount) facts (\(parts.joined(separator: ", "))), \(notificationCount) "
      + "notifications, \(refusedCount) refused"
  }
}
