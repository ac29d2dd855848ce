import ArgumentParser
import StoreSimulator

/// The cost of verification, compared with the cost of the signature alone (P4).
struct VerifyBenchmark: AsyncParsableCommand, ReportingBenchmark {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "CPU time to verify, compared with openssl for the signature alone.")

  @Option(help: "How often each is measured, in turn; the median is printed.")
  var rounds = 9

  @Option(help: "How long a measurement in a round lasts, in seconds.")
  var seconds = 1

  @OptionGroup var output: ReportOptions

  /// Distinct transactions, 2 MB in total: five batches. In the service a payload was just
  /// received, so it is in the processor caches too.
  private static let transactions = 500
  /// Workers, and the minimum number of verifications in the time of one by openssl (P4).
  private static let widths = [(workers: 1, target: 1.5), (workers: 2, target: 3.0)]

  /// The number of each size; they take long to sign.
  private static let receipts = 200
  private static let purchases = [2, 20, 187]
  /// Microseconds of processor time for each purchase of the largest receipt, at most.
  private static let purchaseTarget = 3.0

  func validate() throws {
    guard (1...1_000).contains(rounds) else { throw ValidationError("--rounds takes 1 to 1000") }
    guard (1...60).contains(seconds) else { throw ValidationError("--seconds takes 1 to 60") }
  }

  func run() async throws { try await output.write(self) }

  func measure() async throws -> [Report.Part] {
    let transactions = try SignedTransactions(count: Self.transactions)
    var curve = VerifyTable(
      title: "transactions of \(transactions.length) bytes, each another one, signer known",
      bound: .ecdsaP256,
      rows: Self.widths.map { width in
        VerifyRow(
          name: width.workers == 1 ? "1 worker" : "\(width.workers) workers",
          load: TransactionLoad(transactions, workers: width.workers), target: width.target)
      })
    let authority = try ReceiptAuthority.generate()
    var receipts = VerifyTable(
      title: "receipts, each another one, signer known, 1 worker", bound: .rsa2048,
      rows: try Self.purchases.map { purchases in
        let load = try ReceiptLoad(
          authority: authority, count: Self.receipts, purchases: purchases)
        return VerifyRow(
          name: "\(purchases) purchases, \((load.length + 500) / 1_000) kB", load: load,
          target: nil)
      })
    // In turn, so that short loads of the machine affect all of them alike.
    for _ in 0..<rounds {
      try await curve.measureRound(seconds: seconds)
      try await receipts.measureRound(seconds: seconds)
    }
    for table in [curve, receipts] { table.print() }
    let purchases = Self.costs(ofEachPurchaseIn: receipts)
    purchases.print()
    return [curve.part, receipts.part, purchases]
  }

  /// The costs of receipts, divided by their purchases.
  private static func costs(ofEachPurchaseIn table: VerifyTable) -> Report.Part {
    Report.Part(
      "receipts, for each purchase: signature, contents and facts",
      zip(table.rows, purchases).map { row, count in
        Figure(
          "\(count) purchases", unit: "µs",
          target: count == purchases.last ? .atMost(purchaseTarget) : nil,
          values: row.costs(ofEach: count))
      })
  }
}
