import EntitlementDomain
import EntitlementStore
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite("Claims through two nodes", .enabled(if: EphemeralPostgres.isAvailable))
struct ClaimContentionTests {
  private static let claimers = 64
  private static let claimsOfEach = 24
  private static let chains = 12

  private struct Claim {
    let chain: Int
    let account: AccountID
    let outcome: LinkOutcome
    let customers: [CustomerRevision]
  }

  @Test(
    "Thousands of concurrent claims are serialised: each chain has one owner (R45)",
    .timeLimit(.minutes(5)), arguments: LinkPolicy.allCases)
  func claimsAreSerial(policy: LinkPolicy) async throws {
    let connection = try await TestDatabases.make()
    let nodes = [
      try await TestDatabases.openPatient(connection) { $0.writingConnections = 3 },
      try await TestDatabases.openPatient(connection) { $0.writingConnections = 3 },
    ]
    let seed = SeededRandom(for: "Claims under \(policy.rawValue)").seed
    let isDone = Flag()
    async let seen = readFeed(of: nodes[1], until: isDone)
    let claims = try await claimAll(policy, nodes, seed: seed)
    let latest = try await nodes[0].changedCustomers(after: 0).latest
    try await eventually { try await nodes[1].feedEnd() >= latest }
    isDone.isSet.store(true, ordering: .sequentiallyConsistent)
    let feed = try await seen
    #expect(feed == (try await nodes[0].feed(through: latest)), "the reader saw another feed")
    #expect(zip(feed, feed.dropFirst()).allSatisfy { $0.sequence < $1.sequence })

    for chain in 0..<Self.chains {
      try await checkHistory(
        of: chain, claims.filter { $0.chain == chain }, policy: policy, nodes[0])
    }
    try await checkRevisions(claims, feed, nodes[1])
    let retries = nodes.map(\.statistics.retries)
    print("\(policy.rawValue): \(claims.count) claims, \(retries) transactions begun again")
    for node in nodes { await node.close() }
  }

  private func claimAll(
    _ policy: LinkPolicy, _ nodes: [PostgresStore], seed: UInt64
  ) async throws -> [Claim] {
    try await withThrowingTaskGroup(of: [Claim].self) { group in
      for number in 0..<Self.claimers {
        group.addTask {
          var random = SeededRandom(seed: seed &+ UInt64(number))
          let account = AccountID("account-\(number)")
          var claims: [Claim] = []
          for _ in 0..<Self.claimsOfEach {
            let chain = Int.random(in: 0..<Self.chains, using: &random)
            let fact = try StoreSample.transaction("\(chain)", "\(chain)")
            let receipt = try await nodes[number % 2].commit(
              StoreSample.submission([fact], by: account, under: policy))
            claims.append(
              Claim(
                chain: chain, account: account, outcome: receipt.links[0],
                customers: receipt.customers))
          }
          return claims
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  /// The history of a chain is a possible serial order of its claims, and each claim was answered
  /// accordingly.
  private func checkHistory(
    of chain: Int, _ claims: [Claim], policy: LinkPolicy, _ store: PostgresStore
  ) async throws {
    let target = LinkTarget.chain(OriginalTransactionID("\(chain)"))
    let history = try await store.linkHistory(of: target, in: StoreSample.scope)
    var owner: AccountID?
    for event in history {
      #expect(event.from == owner, "an event of chain \(chain) has the wrong former owner")
      #expect(event.to != nil && event.to != owner)
      owner = event.to
    }
    let granted = claims.filter { [.linked, .transferred, .reclaimed].contains($0.outcome) }
    #expect(claims.count { $0.outcome == .linked } == 1, "winners of chain \(chain)")
    #expect(granted.count == history.count, "claims granted of chain \(chain)")
    #expect(
      Dictionary(grouping: granted, by: \.account).mapValues(\.count)
        == Dictionary(grouping: history.compactMap(\.to), by: { $0 }).mapValues(\.count))
    // Under the second policy, a chain in force keeps its owner too.
    if policy != .transfer { #expect(history.count == 1) }
    #expect(
      claims.count { $0.outcome == .alreadyLinked } == 0 || policy != .transfer,
      "a claim was refused")
    let found = try await store.customer(
      .originalTransaction(OriginalTransactionID("\(chain)")), in: StoreSample.scope)
    #expect(found.record.accountID == owner)
    let held = try await store.links(of: try #require(owner), in: StoreSample.scope)
    #expect(held.map(\.target).contains(target))
  }

  /// Each customer's revision is the number of its last change, and every returned revision is the
  /// number of one of its changes.
  private func checkRevisions(
    _ claims: [Claim], _ feed: [Change], _ store: PostgresStore
  ) async throws {
    var numbers: [CustomerSubject: [Int64]] = [:]
    for change in feed {
      if let subject = change.subject { numbers[subject, default: []].append(change.sequence) }
    }
    for claim in claims {
      for customer in claim.customers where customer.revision > 0 {
        #expect(numbers[customer.subject]?.contains(customer.revision) == true)
      }
    }
    for number in 0..<Self.claimers {
      let account = AccountID("account-\(number)")
      let record = try await store.customer(.account(account), in: StoreSample.scope).record
      #expect(record.revision == numbers[.account(StoreSample.scope, account)]?.last ?? 0)
    }
  }

  /// Follows the feed from page to page.
  private func readFeed(of store: PostgresStore, until end: Flag) async throws -> [Change] {
    var feed: [Change] = []
    while true {
      // Read before the page, so that the last page contains everything committed before the end.
      let isLast = end.isSet.load(ordering: .sequentiallyConsistent)
      let page = try await store.changes(after: feed.last?.sequence ?? 0, limit: 100)
      feed += page
      if isLast && page.isEmpty { return feed }
    }
  }

  private final class Flag: Sendable {
    let isSet = Atomic(false)
  }
}
