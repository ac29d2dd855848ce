import Cryptography
import EntitlementDomain
import EntitlementStore
import StoreSimulator

/// Customers in any number: those of the simulated App Store in all its life cycles, with payloads
/// of real fields and sizes. Nobody signed them: their signatures are random bytes, which a store
/// keeps as it keeps real ones.
struct BulkCustomers: Sendable {
  static let scope = AppScope(bundleID: SimulatedApp.bundleID, environment: .production)
  /// 2026-11-01.
  static let now: Milliseconds = 1_793_491_200_000
  /// The first account. Accounts are numbers, which pgbench can choose among; all have as many
  /// digits.
  static let firstAccount = 1_000_000_000
  static let maximumCount = 1_000_000_000

  let count: Int
  /// As long as those of Apple.
  let header: [UInt8]
  let catalog: Catalog
  private let population: Population
  private let seed: UInt64

  init(count: Int, seed: UInt64) throws {
    self.count = count
    self.seed = seed
    population = Population(seed: seed, count: count, now: Self.now)
    header = try SigningAuthority.generate().headerSegment
    catalog = try CatalogFile.parse(SimulatedApp.catalogYAML).catalog
  }

  static func account(at index: Int) -> AccountID { AccountID(String(firstAccount + index)) }

  /// Everything that stands of a customer, under its account.
  ///
  /// - Parameter index: from 0, below ``count``.
  func submission(at index: Int) throws -> Submission {
    let timeline = population.customer(at: index).timeline
    var generator = SeededGenerator(seed: seed, label: "bulk signatures", index: UInt64(index))
    var transactions: [TransactionID: TransactionPayload] = [:]
    var renewals: [OriginalTransactionID: RenewalInfoPayload] = [:]
    var appTransaction: AppTransactionPayload?
    var order: [TransactionID] = []
    for event in timeline.history(until: Self.now) {
      for transaction in event.transactions {
        let id = transaction.transactionID
        if transactions.updateValue(transaction, forKey: id) == nil { order.append(id) }
      }
      if let renewal = event.renewalInfo { renewals[renewal.originalTransactionID] = renewal }
      appTransaction = event.appTransaction ?? appTransaction
    }
    var facts: [SignedFact] = []
    for id in order {
      if let payload = transactions[id]?.json {
        facts.append(try fact(.transaction, payload, &generator))
      }
    }
    for renewal in renewals.values.sorted(by: {
      $0.originalTransactionID < $1.originalTransactionID
    }) {
      facts.append(try fact(.renewalInfo, renewal.json, &generator))
    }
    if let payload = appTransaction?.json {
      facts.append(try fact(.appTransaction, payload, &generator))
    }
    return Submission(
      facts: facts, accountID: Self.account(at: index), receivedAt: Self.now, catalog: catalog)
  }

  private func fact(
    _ kind: FactKind, _ payload: [UInt8], _ generator: inout SeededGenerator
  ) throws -> SignedFact {
    let digest = PayloadDigest(try SHA256.digest(of: payload).bytes)
    let fact = try PayloadDecoder.fact(
      kind: kind, payload: payload, digest: digest, bundleID: Self.scope.bundleID)
    return SignedFact(
      fact: fact,
      signed: SignedPayload(header: header, payload: payload, signature: generator.bytes(64)))
  }
}
