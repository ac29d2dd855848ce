import EntitlementDomain
import Wire

/// What became of a change of who owns what.
enum LinkOutcome {
  static func write(_ response: LinkResponse, to output: OutputOptions) throws {
    try output.write(response, table: text)
  }

  /// What changed hands, and the customers concerned.
  static func text(of response: LinkResponse) -> String {
    var customers = TextTable(header: ["CUSTOMER", "REVISION"])
    for customer in response.customers {
      customers.add([customer.subject.display, "\(customer.revision)"])
    }
    if response.targets.isEmpty { return customers.text }
    var targets = TextTable(header: ["CHANGED HANDS"])
    for target in response.targets { targets.add([target.display]) }
    return targets.text + "\n\n" + customers.text
  }
}

extension SubmittedCustomer.Subject {
  /// For people: `customer-1`, `chain 2000000000000001`.
  var display: String {
    switch self {
    case .account(let id): id.rawValue
    case .unlinkedChain(let id): "chain \(id)"
    }
  }
}
