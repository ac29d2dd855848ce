import EntitlementDomain
import JSONDocuments
import Wire

/// What became of a change of who owns what.
enum LinkOutcome {
  /// In JSON: a contract.
  private struct Document: Encodable {
    let changed: Bool
    let targets: [LinkTargetDocument]
    let customers: [CustomerRevisionDocument]
  }

  static func write(_ response: LinkResponse, to output: OutputOptions) throws {
    let document = Document(
      changed: response.isChanged, targets: response.targets.map { LinkTargetDocument($0) },
      customers: response.customers.map {
        CustomerRevisionDocument($0.subject, in: $0.scope, revision: $0.revision)
      })
    try output.write(document) { _ in text(of: response) }
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

/// A customer with its revision, in JSON: the fields of `entitle.v1.CustomerRevision`, by the same
/// names.
struct CustomerRevisionDocument: Encodable {
  let bundleId: String
  let environment: String
  let accountId: String?
  let originalTransactionId: String?
  let revision: Int64

  init(_ subject: SubmittedCustomer.Subject, in scope: AppScope, revision: Int64) {
    bundleId = scope.bundleID.rawValue
    environment = scope.environment.rawValue
    switch subject {
    case .account(let id):
      accountId = id.rawValue
      originalTransactionId = nil
    case .unlinkedChain(let id):
      accountId = nil
      originalTransactionId = id.rawValue
    }
    self.revision = revision
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
