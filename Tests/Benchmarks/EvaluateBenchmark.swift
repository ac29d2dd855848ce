import ArgumentParser
import EntitlementDomain

/// The time to evaluate one customer: from the facts to the state with its next transition.
struct EvaluateBenchmark: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "evaluate", abstract: "CPU time to evaluate customers of several sizes.")

  @Option(help: "How often each customer is measured; the median is printed.")
  var rounds = 15

  @Option(help: "Measure only this customer.")
  var customer: EvaluatedCustomer?

  @Option(help: "Measure only this number of transactions.")
  var transactions: Int?

  /// Microseconds of processor time by number of transactions.
  private static let targets = [(transactions: 5, target: 5.0), (transactions: 200, target: 50.0)]

  /// The approximate number of transactions that a round evaluates.
  private static let roundSize = 200_000

  func validate() throws {
    guard (1...1_000).contains(rounds) else {
      throw ValidationError("--rounds takes 1 to 1000")
    }
    if let transactions, !Self.targets.contains(where: { $0.transactions == transactions }) {
      let sizes = Self.targets.map { String($0.transactions) }.joined(separator: " or ")
      throw ValidationError("--transactions takes \(sizes)")
    }
  }

  func run() {
    var cases = EvaluatedCustomer.allCases.filter { customer ?? $0 == $0 }.flatMap { customer in
      Self.targets.filter { transactions ?? $0.transactions == $0.transactions }.map {
        Case(customer: customer, transactions: $0.transactions, target: $0.target)
      }
    }
    // In turn, so that short loads of the machine affect all customers alike.
    for _ in 0..<rounds {
      for index in cases.indices {
        cases[index].measure(repeats: Self.roundSize / cases[index].transactions)
      }
    }
    print("customer                         µs, median    lowest   highest    target")
    for measured in cases { print(measured.row) }
  }

  /// One customer and its measurement.
  private struct Case {
    let customer: EvaluatedCustomer
    let transactions: Int
    let target: Double
    private let record: CustomerRecord
    private var measurement = Measurement()

    init(customer: EvaluatedCustomer, transactions: Int, target: Double) {
      self.customer = customer
      self.transactions = transactions
      self.target = target
      record = customer.record(transactions: transactions)
    }

    mutating func measure(repeats: Int) {
      let now = customer.now(transactions: transactions)
      measurement.addRound(repeats: repeats) { [record] in
        Self.use(Evaluation.state(of: record, catalog: EvaluatedCustomer.catalog, at: now))
      }
    }

    /// Prevents the optimiser from removing the work.
    @inline(never)
    private static func use(_ state: CustomerState) {}

    var row: String {
      let name = "\(customer.rawValue), \(transactions) transactions"
      let numbers = [measurement.median, measurement.lowest, measurement.highest, target]
      let widths = [12, 10, 10, 10]
      return name + String(repeating: " ", count: max(0, 31 - name.count))
        + zip(numbers, widths).map { Self.padded($0, $1) }.joined()
        + (measurement.median < target ? "  met" : "  missed")
    }

    /// With one decimal, aligned to the right.
    private static func padded(_ number: Double, _ width: Int) -> String {
      let tenths = Int((number * 10).rounded())
      let text = "\(tenths / 10).\(tenths % 10)"
      return String(repeating: " ", count: max(0, width - text.count)) + text
    }
  }
}
