import ArgumentParser
import StoreSimulator

struct CustomersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "customers",
    abstract: "List the customers of a running simulator, or show one.",
    discussion: """
      A line for each customer: the name, the life cycle, and the state that a server must tell of \
      each product or subscription group. With --json one JSON object for each thousand customers.
      """)

  @Argument(help: "Only this customer, with the transactions.")
  var name: String?

  @OptionGroup var control: ControlOptions

  private struct Page: Decodable {
    let customers: [Customer]
    let hasMore: Bool
  }

  private struct Customer: Decodable {
    struct Expected: Decodable {
      let status: String?
      let productId: String?
    }

    struct Transaction: Decodable {
      let transactionId: String
      let originalTransactionId: String
      let productId: String
      let orderId: String
    }

    let customer: String
    let lifeCycle: String?
    let expected: [Expected]
    /// Nil in a list of customers.
    let transactions: [Transaction]?

    var line: String {
      let states = expected.map { "\($0.productId ?? "?") \($0.status ?? "?")" }
      return ([customer, lifeCycle ?? "-"] + states).joined(separator: "  ")
    }

    var text: String {
      ([line]
        + (transactions ?? []).map {
          "  transaction \($0.transactionId), original \($0.originalTransactionId), order "
            + "\($0.orderId): \($0.productId)"
        }).joined(separator: "\n")
    }
  }

  func run() async throws {
    if let name {
      return try await control.run("GET", "customers/\(ControlOptions.escaped(name))") {
        (answer: Customer) in answer.text
      }
    }
    var path = "customers?limit=1000"
    while true {
      let bytes = try await control.call("GET", path)
      let page: Page = try ControlOptions.decode(bytes)
      if control.json {
        try SimulatorOutput.print(String(decoding: bytes, as: UTF8.self))
      } else if !page.customers.isEmpty {
        try SimulatorOutput.print(page.customers.map(\.line).joined(separator: "\n"))
      }
      guard page.hasMore, let last = page.customers.last else { return }
      path = "customers?limit=1000&after=\(ControlOptions.escaped(last.customer))"
    }
  }
}
