import AppStorePayloads
import Cryptography
import EntitlementDomain
import EntitlementStore
import Framing
import LoadClient
import RPCClient
import SQLiteStore
import StoreSimulator
import Synchronization
import Wire

/// The latency of submissions while six connections read customers with very many subscriptions,
/// whose states are not cached.
struct LargeCustomers {
  let plan: StressPlan

  private static let readers = 6
  private static let chains = 10_000
  private static let perCommit = 500
  /// The length of a turn with or without the reads. Turns alternate, since other loads of the
  /// machine change within seconds.
  private static let turn = Duration.seconds(2)
  /// Between two submissions: as in a backend with some traffic.
  private static let interval = Duration.milliseconds(5)

  private final class Answers: Sendable {
    let count = Atomic(0)
  }

  private struct Turn {
    /// Of answered submissions, in microseconds.
    var latencies: [Double] = []
    var failed = 0

    var p99: Double {
      let sorted = latencies.sorted()
      return sorted.isEmpty ? .infinity : sorted[sorted.count * 99 / 100]
    }
  }

  func measure() async throws -> [Figure] {
    let authority = try SigningAuthority.generate()
    let store = try await plan.sqlite(0, name: "large-customers")
    try await fill(store)
    let server = try await EntitledProcess(
      store: store, arguments: ["--trust-root", "sandbox=\(authority.rootFingerprint)"])
    let client = try await EntitlementClient.connect(to: server.address)
    var idle = Figure("submissions, one every 5 ms: p99", unit: "µs")
    var beside = Figure("the same beside \(Self.readers) reads of large customers", unit: "µs")
    var ratio = Figure("beside large customers, over without", unit: "×", target: .atMost(3))
    var failed = Figure("submissions that failed", unit: "calls", target: .atMost(0))
    var reads = Figure("large customers that were read", unit: "a second")
    let rounds = plan.rounds * plan.seconds
    plan.progress.start("large customers, rounds", of: rounds)
    var number = 0
    for _ in 0..<rounds {
      let without = try await submit(client, authority, from: &number)
      let answered = Answers()
      let with = try await withThrowingTaskGroup(of: Void.self) { group in
        let address = server.address
        for reader in 0..<Self.readers {
          group.addTask { try await read(reader, at: address, answered) }
        }
        let turn = try await submit(client, authority, from: &number)
        group.cancelAll()
        return turn
      }
      idle.add(without.p99)
      beside.add(with.p99)
      ratio.add(with.p99 / without.p99)
      failed.add(Double(without.failed + with.failed))
      reads.add(Double(answered.count.load(ordering: .relaxed)) / (Self.turn / .seconds(1)))
      plan.progress.advance(by: 1)
    }
    plan.progress.end()
    await client.close()
    try server.stop()
    return [idle, beside, ratio, failed, reads]
  }

  /// Reads one of the large customers again and again, on a connection of its own. The answers are
  /// not decoded: that would take the processors from the server and the submissions.
  private func read(
    _ index: Int, at address: ServerAddress, _ answered: Answers
  ) async throws {
    let connection = try await RPCConnection.connect(to: address)
    let method = WireMethods.getCustomerState
    let request = try GetCustomerStateRequest(
      customer: .account(Self.account(index)), scope: BulkCustomers.scope,
      consistency: .fullyConsistent
    ).encoded()
    while !Task.isCancelled {
      let answer = try? await connection.call(
        service: method.service, method: method.name, payload: request)
      if answer != nil { answered.count.add(1, ordering: .relaxed) }
    }
    await connection.close()
  }

  /// Submits purchases of new customers.
  ///
  /// - Parameter number: of the next purchase.
  private func submit(
    _ client: EntitlementClient, _ authority: SigningAuthority, from number: inout Int
  ) async throws -> Turn {
    var turn = Turn()
    let end = ContinuousClock.now + Self.turn
    while ContinuousClock.now < end {
      number += 1
      let json = Self.transaction(id: 900_000_000 + number)
      let request = SubmitSignedTransactionsRequest(
        signedPayloads: [try authority.sign(payloadJSON: json)],
        accountID: AccountID("buyer-\(number)"))
      let start = ContinuousClock.now
      do {
        _ = try await client.submitSignedTransactions(request)
        turn.latencies.append(start.duration(to: .now) / .microseconds(1))
      } catch {
        turn.failed += 1
      }
      try await Task.sleep(for: Self.interval)
    }
    return turn
  }

  // MARK: Customers

  private static func account(_ index: Int) -> AccountID { AccountID("large-\(index)") }

  private func fill(_ uri: String) async throws {
    let store = try SQLiteStore.open(at: String(uri.dropFirst("sqlite:".count)))
    plan.progress.start("subscriptions of large customers", of: Self.readers * Self.chains)
    for index in 0..<Self.readers {
      for start in stride(from: 0, to: Self.chains, by: Self.perCommit) {
        let facts = try (start..<start + Self.perCommit).map { chain in
          try signed(Self.transaction(id: index * Self.chains + chain + 1))
        }
        _ = try await store.commit(
          Submission(
            facts: facts, accountID: Self.account(index), receivedAt: BulkCustomers.now,
            catalog: plan.customers.catalog))
        plan.progress.advance(by: Self.perCommit)
      }
    }
    plan.progress.end()
    await store.close()
  }

  /// The signature is invented: a store treats it like a real one.
  private func signed(_ json: [UInt8]) throws -> SignedFact {
    let hash = try SHA256.digest(of: json)
    return SignedFact(
      fact: try PayloadDecoder.fact(
        kind: .transaction, payload: json, digest: PayloadDigest(sha256: hash.words),
        bundleID: BulkCustomers.scope.bundleID),
      signed: SignedPayload(
        header: plan.customers.header, payload: json, signature: hash.bytes + hash.bytes))
  }

  /// The only transaction of a subscription that has ended.
  private static func transaction(id: Int) -> [UInt8] {
    let purchased = BulkCustomers.now.rawValue - 40 * Milliseconds.dayLength
    return Array(
      """
      {"transactionId":"\(id)","originalTransactionId":"\(id)",\
      "bundleId":"\(BulkCustomers.scope.bundleID)","environment":"Sandbox",\
      "productId":"com.example.scribe.pro.monthly","subscriptionGroupIdentifier":"21000001",\
      "type":"Auto-Renewable Subscription","inAppOwnershipType":"PURCHASED",\
      "purchaseDate":\(purchased),"originalPurchaseDate":\(purchased),\
      "expiresDate":\(purchased + 30 * Milliseconds.dayLength),"quantity":1,\
      "signedDate":\(purchased + 1_000)}
      """.utf8)
  }
}
