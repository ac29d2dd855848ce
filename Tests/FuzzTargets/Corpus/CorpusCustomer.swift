import AppStorePayloads
import EntitlementDomain
import StoreSimulator

/// The App Store's unsigned statements about one simulated customer.
struct CorpusCustomer: Sendable {
  /// One of each life cycle.
  static var all: [CorpusCustomer] {
    LifeCycle.allCases.map { lifeCycle in
      CorpusCustomer(
        Timeline(lifeCycle, seed: seed, start: start, environment: .production))
    }
  }

  private static let seed: UInt64 = 4
  /// 2024-01-01T00:00:00Z.
  private static let start: Milliseconds = 1_704_067_200_000

  let name: String
  /// The date at which the customer has the state of the life cycle's name.
  let moment: Milliseconds
  let events: [StoreEvent]
  /// The legacy receipt of the customer's device at that moment.
  let receipt: SimulatedReceipt

  private init(_ timeline: Timeline) {
    name = timeline.lifeCycle.rawValue
    moment = timeline.characteristicMoment
    events = timeline.history(until: timeline.characteristicMoment)
    receipt = timeline.receipt(at: timeline.characteristicMoment)
  }

  /// The latest transaction, renewal info and app transaction, where they exist.
  var payloads: [FuzzSeed] {
    let transaction = events.last { !$0.transactions.isEmpty }?.transactions.first?.json
    let renewalInfo = events.last { $0.renewalInfo != nil }?.renewalInfo?.json
    let appTransaction = events.last { $0.appTransaction != nil }?.appTransaction?.json
    let named = [
      ("transaction", transaction), ("renewal-info", renewalInfo),
      ("app-transaction", appTransaction),
    ]
    return named.compactMap { kind, json in json.map { FuzzSeed("\(name)-\(kind)", $0) } }
  }

  /// The latest notification in the form of ``FuzzSigner/complete(_:)``: one line for the
  /// notification, and one for each payload in it.
  var notification: FuzzSeed? {
    guard let event = events.last(where: { $0.notification != nil }),
      let notification = event.notification
    else { return nil }
    var lines: [[UInt8]] = []
    func marker(_ payload: [UInt8]?) -> String? {
      guard let payload else { return nil }
      lines.append(payload)
      return "$\(lines.count)"
    }
    let contents = notification.contents
    let transaction = contents.contains(.transaction) ? event.transactions.first?.json : nil
    let renewalInfo = contents.contains(.renewalInfo) ? event.renewalInfo?.json : nil
    let appTransaction = contents.contains(.appTransaction) ? event.appTransaction?.json : nil
    let outer = notification.json(
      signedTransaction: marker(transaction), signedRenewalInfo: marker(renewalInfo),
      signedAppTransaction: marker(appTransaction))
    return FuzzSeed(
      "\(name)-notification", Array(([outer] + lines).joined(separator: [UInt8(ascii: "\n")])))
  }

  /// All facts of the customer, as a store returns them.
  var record: CustomerRecord {
    var facts: [FactKey: Fact] = [:]
    for event in events {
      let payloads =
        event.transactions.map { (FactKind.transaction, $0.json) }
        + [
          event.renewalInfo.map { (.renewalInfo, $0.json) },
          event.appTransaction.map { (.appTransaction, $0.json) },
        ].compactMap { $0 }
      for (index, (kind, json)) in payloads.enumerated() {
        let digest = PayloadDigest(words: (UInt64(facts.count), UInt64(index)))
        if let fact = try? PayloadDecoder.fact(
          kind: kind, payload: json, digest: digest, bundleID: SimulatedApp.bundleID)
        {
          // Events are in the order of signing, so the later one replaces the earlier one.
          facts[fact.key] = fact
        }
      }
    }
    return CustomerRecord(
      scope: AppScope(bundleID: SimulatedApp.bundleID, environment: .production),
      accountID: AccountID(name), revision: Int64(events.count), changedAt: moment,
      facts: facts.values.sorted { $0.digest < $1.digest })
  }
}
