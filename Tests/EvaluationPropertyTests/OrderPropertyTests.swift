import EntitlementDomain
import NIOCore
import TestSupport
import Testing
import Wire

@Suite("Properties: the facts alone decide")
struct OrderPropertyTests {
  private func bytes(_ state: CustomerState) throws -> ByteBuffer {
    try GetCustomerStateResponse.state(state).encoded()
  }

  @Test("R3: order and repeats of the same facts give the same bytes")
  func order() throws {
    try RandomCustomers.expect("order and repeats") { customer in
      let now = customer.clock()
      let expected = try bytes(customer.state(at: now))
      var facts = customer.record.facts
      facts += customer.random.some(of: facts)
      facts.shuffle(using: &customer.random)
      let isSame = try bytes(customer.state(with: facts, at: now)) == expected
      return isSame ? nil : "another order gives other bytes at \(now)"
    }
  }

  @Test("R3, R5: facts that are joined batch by batch give the same bytes as all at once")
  func batches() throws {
    try RandomCustomers.expect("batches") { customer in
      let now = customer.clock()
      let expected = try bytes(customer.state(at: now))
      var waiting = customer.record.facts
      waiting += customer.random.some(of: waiting)
      waiting.shuffle(using: &customer.random)
      var kept = KeptFacts()
      while !waiting.isEmpty {
        let size = customer.random.number(1...waiting.count)
        kept.add(waiting.suffix(size))
        waiting.removeLast(size)
      }
      let isSame = try bytes(customer.state(with: kept.facts, at: now)) == expected
      return isSame ? nil : "batches give other bytes at \(now)"
    }
  }

  @Test("R1: the state of a moment does not depend on the time of evaluation")
  func purity() throws {
    try RandomCustomers.expect("purity") { customer in
      let now = customer.clock()
      let expected = try bytes(customer.state(at: now))
      _ = customer.state(at: customer.clock())
      let isSame = try bytes(customer.state(at: now)) == expected
      return isSame ? nil : "asked again, the state of \(now) is another"
    }
  }
}

/// The facts that decide: of each form, the standing version of each fact (R5, R92).
struct KeptFacts {
  private struct Key: Hashable {
    let scope: AppScope
    let fact: FactKey
    let authority: FactAuthority
  }

  private var standing: [Key: Fact] = [:]

  var facts: [Fact] { Array(standing.values) }

  mutating func add(_ batch: some Sequence<Fact>) {
    for fact in batch {
      let key = Key(scope: fact.scope, fact: fact.key, authority: fact.authority)
      if let known = standing[key], known.precedence >= fact.precedence { continue }
      standing[key] = fact
    }
  }
}
