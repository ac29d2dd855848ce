import AppStoreRecovery
import ArgumentParser
import EntitlementDomain
import EntitlementStore
import RecoverySupport
import SQLiteStore
import StoreSimulator

/// What was missed, recovered from a simulated App Store, into a database of SQLite.
struct RecoveryBenchmark: AsyncParsableCommand, ReportingBenchmark {
  static let configuration = CommandConfiguration(
    commandName: "recovery",
    abstract: "Missed notifications and incomplete customers, recovered from the App Store.")

  @Option(help: "How often each is measured; the median is printed.")
  var rounds = 3

  @Option(help: "Missed notifications.")
  var notifications = 10_000

  @Option(help: "Customers that are incomplete.")
  var customers = 500

  @OptionGroup var output: ReportOptions

  func validate() throws {
    guard (1...1_000).contains(rounds) else { throw ValidationError("--rounds takes 1 to 1000") }
    guard (1...40_000).contains(notifications) else {
      throw ValidationError("--notifications takes 1 to 40000")
    }
    guard (1...10_000).contains(customers) else {
      throw ValidationError("--customers takes 1 to 10000")
    }
  }

  func run() async throws { try await output.write(self) }

  func measure() async throws -> [Report.Part] {
    var fast = Figure("\(notifications) notifications, without a limit", unit: "s")
    var paced = Figure("\(notifications) notifications, at Apple's rates", unit: "s")
    var pages = Figure("calls for each 20 of them", unit: "")
    var refetched = Figure("\(customers) customers, without a limit", unit: "s")
    var calls = Figure("calls for each customer", unit: "")
    for _ in 0..<rounds {
      let missed = try await measureMissed(rateFactor: 1_000)
      fast.add(missed.seconds)
      pages.add(Double(missed.progress.calls) / (Double(notifications) / 20))
      paced.add(try await measureMissed(rateFactor: nil).seconds)
      let incomplete = try await measureIncomplete()
      refetched.add(incomplete.seconds)
      calls.add(Double(incomplete.progress.calls) / Double(customers))
    }
    let part = Report.Part(
      "Recovered from a simulated App Store in Production, SQLite",
      [fast, paced, pages, refetched, calls])
    part.print()
    return [part]
  }

  private typealias Result = (seconds: Double, progress: AppStoreJobProgress)

  private var limits: RecoveryLimits {
    var limits = RecoveryLimits()
    limits.scheduleInterval = .milliseconds(100)
    return limits
  }

  /// - Parameter rateFactor: nil for Apple's rates, and the client's part of them.
  private func measureMissed(rateFactor: Double?) async throws -> Result {
    var result: Result?
    try await RecoveryBench.run(environment: .production, rateFactor: rateFactor, limits: limits) {
      bench in
      try await bench.addFault(#"{"on":"notifications","kind":"lost"}"#)
      for number in 0..<notifications {
        _ = try await bench.buy(SimulatedApp.tokens, by: "customer\(number / 20)")
      }
      try await bench.advance(hours: 1)
      let seconds = try await Self.seconds {
        try await bench.recovering { try await $0.reconciliation()?.state == .done }
      }
      guard let job = try await bench.reconciliation(), job.progress.added == notifications else {
        throw Failure(description: "not all notifications were recovered")
      }
      result = (seconds, job.progress)
    }
    guard let result else { throw Failure(description: "nothing was measured") }
    return result
  }

  /// Customers whose purchase and renewal were lost, and whose refund is heard.
  private func measureIncomplete() async throws -> Result {
    var result: Result?
    var limits = limits
    // What was missed is not to be found by another reading.
    limits.reconciliationInterval = .seconds(1_000_000_000)
    limits.absence = limits.reconciliationInterval
    try await RecoveryBench.run(environment: .production, rateFactor: 1_000, limits: limits) {
      bench in
      try await bench.recovering { try await $0.reconciliation()?.state == .done }
      try await bench.addFault(#"{"on":"notifications","kind":"lost"}"#)
      var chains: [String] = []
      for number in 0..<customers {
        chains.append(try await bench.buy(SimulatedApp.proMonthly, by: "customer\(number)"))
      }
      try await bench.advance(days: 32)
      try await bench.clearFaults()
      for chain in chains { try await bench.act("refund", "{\"transactionId\":\"\(chain)\"}") }
      bench.passJobTime()
      let keys = chains.map {
        AppStoreJobKey(bench.scope, .refetch(OriginalTransactionID($0)))
      }
      let seconds = try await Self.seconds {
        try await bench.recovering { bench in
          try await bench.store.jobCounts(doing: []).open == 0
        }
      }
      var progress = AppStoreJobProgress()
      for key in keys {
        guard let job = try await bench.store.job(.key(key)), job.state == .done else {
          throw Failure(description: "not all customers were recovered")
        }
        progress += job.progress
      }
      result = (seconds, progress)
    }
    guard let result else { throw Failure(description: "nothing was measured") }
    return result
  }

  private static func seconds(_ body: () async throws -> Void) async throws -> Double {
    let start = ContinuousClock.now
    try await body()
    return (ContinuousClock.now - start) / .seconds(1)
  }

  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }
}
