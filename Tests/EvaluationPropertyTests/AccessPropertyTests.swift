import EntitlementDomain
import TestSupport
import Testing

@Suite("Properties: access")
struct AccessPropertyTests {
  @Test("R16: a revoked purchase confers no access from its revocation on")
  func revoked() throws {
    try RandomCustomers.expect("revoked") { customer in
      let now = customer.clock()
      for source in customer.state(at: now).entitlements.flatMap(\.sources) {
        guard case .purchase(let id, let chain, let product) = source.origin else { continue }
        guard let standing = customer.standingTransaction(id) else {
          return "\(id) confers at \(now), of which no fact is known"
        }
        if let date = standing.revocationDate, date <= now {
          return "\(id) confers at \(now), revoked at \(date)"
        }
        // R7: the standing version determines the chain.
        if standing.originalTransactionID != chain || standing.productID != product {
          return "\(id) is attributed to chain \(chain) and product \(product) at \(now)"
        }
      }
      return nil
    }
  }

  @Test("R27, R31: core state, entitlements, sources and products agree")
  func consistency() throws {
    try RandomCustomers.expect("consistency") { customer in
      let now = customer.clock()
      let state = customer.state(at: now)
      let found = StateCheck(state: state, customer: customer, now: now).firstFault
      return found.map { "at \(now): \($0)" }
    }
  }
}
