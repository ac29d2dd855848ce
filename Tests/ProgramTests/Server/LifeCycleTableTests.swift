import EntitlementDomain
import Foundation
import StoreSimulator
import TestSupport
import Testing

/// The table of all customers must be right for every one, by the expectations of the life cycles.
@Suite("The table of a simulated population", .timeLimit(.minutes(5)))
struct LifeCycleTableTests {
  @Test("Every customer is in the state that its life cycle expects", arguments: Delivery.allCases)
  func table(via: Delivery) async throws {
    let bench = try Bench()
    let server = try await bench.startServer()
    let population = Bench.population(
      2 * LifeCycle.allCases.count, seed: 20, environment: .sandbox)
    let path = bench.folder.file("expectations.jsonl")
    try await bench.submit(
      population, to: server, "--via", via.rawValue, "--expectations", path)
    let expectations = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
      .map { try JSONTree(parsing: $0.utf8) }
    #expect(expectations.count == population.count)
    #expect(
      Set(expectations.compactMap { $0["lifeCycle"]?.text })
        == Set(LifeCycle.allCases.map(\.rawValue)))

    let run = try await Bench.control(
      server, "customer", "list", "--bundle-id", "com.example.scribe", "--environment", "sandbox",
      "--output", "json")
    let states = try run.document(JSONTree.self).elements
    #expect(states.map { $0["accountId"] } == expectations.map { $0["accountId"] })
    for (state, expectation) in zip(states, expectations) {
      let expected = try #require(expectation["expected"])
      #expect(
        Self.summary(of: state, asked: expected) == expected,
        "\(expectation["accountId"]?.text ?? ""), \(expectation["lifeCycle"]?.text ?? "")")
    }
  }

  /// The state in the form of an expectation, for the same group or product.
  private static func summary(of state: JSONTree, asked: JSONTree) -> JSONTree {
    let entries =
      asked["groupId"] == nil
      ? state["products"]?.elements.filter { $0["productId"] == asked["productId"] }
      : state["groups"]?.elements.filter { $0["groupId"] == asked["groupId"] }
    let standing = entries?.first?["standing"]
    let entitlements = state["entitlements"]?.elements.compactMap { $0["entitlementId"] } ?? []
    func name(_ value: JSONTree?, in enumeration: String) -> JSONTree? {
      value?.text.map { .text($0.replacing("\(enumeration)_", with: "", maxReplacements: 1)) }
    }
    let members: [String: JSONTree?] = [
      "coreState": name(state["coreState"], in: "CORE_STATE"),
      "groupId": entries?.first?["groupId"],
      "productId": standing?["productId"],
      "status": name(standing?["status"], in: "DETAILED_STATUS"),
      "expirationReason": name(standing?["expirationReason"], in: "EXPIRATION_REASON"),
      "callToAction": name(
        standing?["callToAction"] ?? state["callsToAction"]?.elements.first, in: "CALL_TO_ACTION"),
      "entitlements": entitlements.isEmpty ? nil : .array(entitlements),
      "willRenew": standing?["willRenew"],
      "pendingProductId": standing?["pendingChange"]?["productId"],
    ]
    return .object(members.compactMapValues(\.self))
  }

  @Test func `the same seed a second time adds nothing`() async throws {
    let bench = try Bench()
    let server = try await bench.startServer()
    let population = Bench.population(LifeCycle.allCases.count, seed: 7)
    let first = try await bench.submit(population, to: server)
    let second = try await bench.submit(population, to: server)
    #expect(!first.contains("(0 added"))
    #expect(second.contains("(0 added, 0 replaced, "))
    // The same facts with the same kinds.
    #expect(first.split(separator: " ").first == second.split(separator: " ").first)
    #expect(second.hasSuffix(" 0 refused"))
  }

  @Test func `a second run leaves every revision as it was, also after a restart`() async throws {
    let bench = try Bench()
    let population = Bench.population(LifeCycle.allCases.count, seed: 8)
    let first = try await bench.startServer()
    try await bench.submit(population, to: first)
    let before = try await StateList.read(from: first)
    #expect(before.count == population.count)
    try await bench.submit(population, to: first)
    #expect(try await StateList.read(from: first) == before)
    #expect(try await first.stop() == .code(0))
    let second = try await bench.startServer()
    try await bench.submit(population, to: second)
    #expect(try await StateList.read(from: second) == before)
  }
}
