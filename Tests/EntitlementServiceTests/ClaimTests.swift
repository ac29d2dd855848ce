import EntitlementDomain
import EntitlementService
import EntitlementStore
import StoreSimulator
import Testing
import Verification

@Suite("Claims under the app's link policy (R44)")
struct ClaimTests {
  private static func catalog(_ policy: String) -> String {
    SimulatedApp.catalogYAML.replacing(
      "    environments: [Production, Sandbox]",
      with: "    environments: [Production, Sandbox]\n    link_policy: \(policy)")
  }

  @Test("keep: the fact is stored, the claim is refused, and the owner is not named")
  func keep() async throws {
    try await ServiceBench.run(catalog: Self.catalog("keep")) { bench async throws in
      let jws = try bench.purchase()
      _ = try await bench.submit([jws], account: "owner")
      let owner = try await bench.state(of: "owner")
      for _ in 0..<2 {
        let claim = try await bench.submit([jws], account: "claimer")
        #expect(claim.items.map(\.verdict) == [.ok])
        #expect(claim.items.map(\.link) == [.alreadyLinked])
        #expect(claim.items.map(\.detail) == [nil])
        #expect(claim.customers.allSatisfy { $0.subject != .account(ServiceBench.scope, "owner") })
      }
      #expect(bench.counters[.links(.alreadyLinked)] == 2)
      #expect(try await bench.state(of: "owner") == owner)
      #expect(try await bench.state(of: "claimer").coreState == .new)
      #expect(bench.log.lines.isEmpty)
    }
  }

  @Test("keep: new facts of a refused claim are read, though the caller does not learn the owner")
  func ownWrite() async throws {
    try await ServiceBench.run(catalog: Self.catalog("keep")) { bench async throws in
      let facts = try bench.signed(.renewals).flatMap(\.facts)
      _ = try await bench.submit(Array(facts.prefix(1)), account: "owner")
      let before = bench.changed.latest
      let claim = try await bench.submit(Array(facts.dropFirst()), account: "claimer")
      #expect(claim.customers.isEmpty)
      let owner = try await bench.state(of: "owner")
      #expect(owner.revision > before)
      // The events of its token and app transaction, which are ambiguous now (R71), follow.
      #expect(bench.changed.latest > owner.revision)
    }
  }

  @Test("transfer: the claiming account gets the chain, and both read it at once")
  func transfer() async throws {
    try await ServiceBench.run { bench async throws in
      let jws = try bench.purchase()
      _ = try await bench.submit([jws], account: "owner")
      #expect(try await bench.state(of: "owner").coreState == .active)
      let claim = try await bench.submit([jws], account: "claimer")
      #expect(claim.items.map(\.link) == [.transferred])
      #expect(claim.customers.map(\.subject) == [.account(ServiceBench.scope, "claimer")])
      #expect(try await bench.state(of: "owner").coreState == .new)
      #expect(try await bench.state(of: "claimer").coreState == .active)
    }
  }

  @Test("The next claim is decided by a reloaded policy")
  func reloaded() async throws {
    try await ServiceBench.run(catalog: Self.catalog("keep")) { bench async throws in
      let jws = try bench.purchase()
      _ = try await bench.submit([jws], account: "owner")
      bench.file.set(Self.catalog("transfer"))
      #expect(await bench.reloader.reload().isValid)
      let claim = try await bench.submit([jws], account: "claimer")
      #expect(claim.items.map(\.link) == [.transferred])
    }
  }
}
