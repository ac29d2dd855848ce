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

  /// The transactions of a customer, with the target in microseconds of processor time.
  private struct Size {
    let transactions: Int
    let target: Double?
  }

  private static func sizes(of customer: EvaluatedCustomer) -> [Size] {
    let usual = [Size(transactions: 5, target: 6), Size(transactions: 200, target: 50)]
    let many = [
      Size(transactions: few, target: nil), Size(transactions: 1_000, target: nil),
      Size(transactions: Self.many, target: 60_000),
    ]
    switch customer {
    case .subscriber, .mixed: return usual
    case .purchases: return usual + many
    case .chains, .groups: return many
    }
  }

  /// The cost of a transaction is compared between these numbers: it must not grow with the customer.
  private static let few = 100
  private static let many = 10_000
  /// The target of that ratio.
  private static let growth = 2.0

  /// The approximate number of transactions that a round evaluates.
  private static let roundSize = 200_000
  /// The same for each number of transactions of a customer with many of them.
  private static let roundSizeOfMany = 40_000

  func validate() throws {
    guard (1...1_000).contains(rounds) else {
      throw ValidationError("--rounds takes 1 to 1000")
    }
    guard cases.isEmpty else { return }
    let customers = EvaluatedCustomer.allCases.filter { customer ?? $0 == $0 }
    let sizes = Set(customers.flatMap(Self.sizes).map(\.transactions)).sorted()
    throw ValidationError(
      "--transactions takes one of \(sizes.map(String.init).joined(separator: ", "))")
  }

  private var cases: [Case] {
    EvaluatedCustomer.allCases.filter { customer ?? $0 == $0 }.flatMap { customer in
      Self.sizes(of: customer).filter { transactions ?? $0.transactions == $0.transactions }.map {
        Case(customer: customer, transactions: $0.transactions, target: $0.target)
      }
    }
  }

  func run() {
    var cases = cases
    // In turn, so that short loads of the machine affect all customers alike.
    for _ in 0..<rounds {
      for index in cases.indices {
        let number = cases[index].transactions
        let size = [5, 200].contains(number) ? Self.roundSize : Self.roundSizeOfMany
        cases[index].measure(repeats: size / number)
      }
    }
    print("customer                         µs, median    lowest   highest    target")
    for measured in cases { print(measured.row) }
    let ratios = Self.ratios(of: cases)
    if ratios.isEmpty { return }
    print("\ncost of a transaction of \(Self.many), over that of one of \(Self.few)")
    for row in ratios { print(row) }
  }

  /// How much more a transaction of a large customer costs than that of a small one, round by round.
  private static func ratios(of cases: [Case]) -> [String] {
    EvaluatedCustomer.allCases.compactMap { customer in
      let own = cases.filter { $0.customer == customer }
      guard let small = own.first(where: { $0.transactions == few }),
        let large = own.first(where: { $0.transactions == many })
      else { return nil }
      var ratio = Measurement()
      for (small, large) in zip(small.measurement.times, large.measurement.times) {
        ratio.add(large / small * Double(few) / Double(many))
      }
      return row(customer.rawValue, ratio, target: growth)
    }
  }

  private static func row(_ name: String, _ values: Measurement, target: Double?) -> String {
    let numbers = [values.median, values.lowest, values.highest] + (target.map { [$0] } ?? [])
    return name + String(repeating: " ", count: max(0, 31 - name.count))
      + zip(numbers, [12, 10, 10, 10]).map { padded($0, $1) }.joined()
      + (target.map { values.median < $0 ? "  met" : "  missed" } ?? "")
  }

  /// With one decimal, or with two when small, aligned to the right.
  private static func padded(_ number: Double, _ width: Int) -> String {
    let text = number < 10 ? TableText.decimals(number) : tenths(number)
    return String(repeating: " ", count: max(0, width - text.count)) + text
  }

  private static func tenths(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  /// One customer and its measurement.
  private struct Case {
    let customer: EvaluatedCustomer
    let transactions: Int
    let target: Double?
    private let record: CustomerRecord
    private(set) var measurement = Measurement()

    init(customer: EvaluatedCustomer, transactions: Int, target: Double?) {
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
      EvaluateBenchmark.row(
        "\(customer.rawValue), \(transactions) transactions", measurement, target: target)
    }
  }
}
