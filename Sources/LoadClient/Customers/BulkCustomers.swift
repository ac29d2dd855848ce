import AppStorePayloads
import CatalogFiles
import Cryptography
package import EntitlementDomain
package import EntitlementStore
import PostgresBulkLoader
package import StoreSimulator

/// Any number of simulated customers, in all life cycles of the simulated App Store, with payloads
/// of realistic fields and sizes. Each customer follows from the seed and its index alone, so its
/// expected state can be computed without a store.
package struct BulkCustomers: BulkSource {
  /// In Sandbox, so that no server has to trust a simulator's root for Production.
  package static let scope = AppScope(bundleID: SimulatedApp.bundleID, environment: .sandbox)
  /// The default of ``now``: 2026-11-01.
  package static let now: Milliseconds = 1_793_491_200_000
  /// The first account. Accounts are numbers, so that pgbench can choose among them; all have the
  /// same number of digits.
  package static let firstAccount = 1_000_000_000
  package static let maximumCount = 1_000_000_000

  package var scope: AppScope { Self.scope }
  package var firstAccount: Int { Self.firstAccount }
  package let count: Int
  /// A JWS header as long as Apple's.
  package let header: [UInt8]
  package let catalog: Catalog
  package let seed: UInt64
  /// The moment up to which the App Store has signed.
  package let now: Milliseconds
  private let population: Population

  /// The payload of a JWS, before it is signed.
  package struct Payload: Sendable {
    package let kind: FactKind
    package let json: [UInt8]
  }

  /// - Throws: when no key can be generated.
  package init(count: Int, seed: UInt64, now: Milliseconds = Self.now) throws {
    self.count = count
    self.seed = seed
    self.now = now
    population = Population(
      seed: seed, count: count, now: now, environment: Self.scope.environment)
    header = try SigningAuthority.generate().headerSegment
    catalog = try CatalogFile.parse(SimulatedApp.catalogYAML).catalog
  }

  package static func account(at index: Int) -> AccountID {
    AccountID(String(firstAccount + index))
  }

  /// - Parameter index: from 0. An index of ``count`` or more is a customer that is not loaded.
  package func timeline(at index: Int) -> Timeline { population.customer(at: index).timeline }

  /// The current payloads of a customer: the latest version of each. Transactions come first, so
  /// that renewal infos find their apps. Some customers have no payloads: the App Store has only
  /// sent notifications about them.
  package func payloads(at index: Int) -> [Payload] {
    var transactions: [TransactionID: TransactionPayload] = [:]
    var renewals: [OriginalTransactionID: RenewalInfoPayload] = [:]
    var appTransaction: AppTransactionPayload?
    var order: [TransactionID] = []
    for event in timeline(at: index).history(until: now) {
      for transaction in event.transactions {
        let id = transaction.transactionID
        if transactions.updateValue(transaction, forKey: id) == nil { order.append(id) }
      }
      if let renewal = event.renewalInfo { renewals[renewal.originalTransactionID] = renewal }
      appTransaction = event.appTransaction ?? appTransaction
    }
    var payloads = order.compactMap { transactions[$0] }
      .map { Payload(kind: .transaction, json: $0.json) }
    payloads += renewals.values
      .sorted { $0.originalTransactionID < $1.originalTransactionID }
      .map { Payload(kind: .renewalInfo, json: $0.json) }
    if let appTransaction {
      payloads.append(Payload(kind: .appTransaction, json: appTransaction.json))
    }
    return payloads
  }

  /// A submission of the current payloads of a customer, under its account. The signatures are
  /// random bytes, which a store treats like real ones.
  package func submission(at index: Int) throws -> Submission {
    var generator = SeededGenerator(seed: seed, label: "bulk signatures", index: UInt64(index))
    let facts = try payloads(at: index).map { payload in
      SignedFact(
        fact: try fact(payload),
        signed: SignedPayload(
          header: header, payload: payload.json, signature: generator.bytes(64)))
    }
    return Submission(
      facts: facts, accountID: Self.account(at: index), receivedAt: now, catalog: catalog)
  }

  /// The expected record of a customer, without its revision.
  package func record(at index: Int) throws -> CustomerRecord {
    CustomerRecord(
      scope: Self.scope, accountID: Self.account(at: index),
      facts: try payloads(at: index).map(fact))
  }

  private func fact(_ payload: Payload) throws -> Fact {
    try PayloadDecoder.fact(
      kind: payload.kind, payload: payload.json,
      digest: PayloadDigest(sha256: try SHA256.digest(of: payload.json).words),
      bundleID: Self.scope.bundleID)
  }
}
