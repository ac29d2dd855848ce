import EntitlementDomain
import TestSupport
import Testing

@Suite("Properties: chains are told as an independent model of the rules tells them")
struct SubscriptionModelTests {
  @Test("R15–R24, R56, R57, R59, R60: every chain of a random customer")
  func chains() throws {
    try RandomCustomers.expect("model of chains") { customer in
      let now = customer.clock()
      for (chain, periods) in Self.chains(of: customer) {
        let infos = customer.record.facts.compactMap { fact -> RenewalInfoFact? in
          guard case .renewalInfo(let info) = fact, info.originalTransactionID == chain,
            info.scope == customer.record.scope
          else { return nil }
          return info
        }
        let info = infos.max {
          Fact.renewalInfo($0).precedence < Fact.renewalInfo($1).precedence
        }
        let model = SubscriptionModel(
          periods: periods, info: info, catalog: customer.catalog, now: now)
        let state = customer.state(
          with: periods.map { .transaction($0) } + infos.map { .renewalInfo($0) }, at: now)
        let answer = model.answer
        if state.groups.map(\.groupID) != [model.groupID].compactMap({ $0 }) {
          return "chain \(chain) at \(now) is in group \(state.groups.map(\.groupID)), and in "
            + "\(String(describing: model.groupID)) by the model"
        }
        let standings = state.groups.map(\.standing) + state.products.map(\.standing)
        guard let standing = standings.first(where: { $0.transactionID == answer.transactionID })
        else { return "transaction \(answer.transactionID) decides chain \(chain) at \(now)" }
        let told = SubscriptionModel.Answer(
          transactionID: standing.transactionID, status: standing.status,
          reason: standing.expirationReason, graceEnd: standing.graceEnd,
          willRenew: standing.willRenew, notices: Set(standing.notices))
        if told != answer { return "chain \(chain) at \(now): \(told), by the model \(answer)" }
      }
      return nil
    }
  }

  /// The subscriptions by chain: the standing transactions (R5, R7), one of each line item (R6).
  private static func chains(
    of customer: RandomCustomer
  ) -> [OriginalTransactionID: [TransactionFact]] {
    var standing: [TransactionID: TransactionFact] = [:]
    for case .transaction(let fact) in customer.record.facts
    where fact.scope == customer.record.scope {
      standing[fact.transactionID] = customer.standingTransaction(fact.transactionID)
    }
    var chains: [OriginalTransactionID: [TransactionFact]] = [:]
    for fact in standing.values where isSubscription(fact, in: customer.catalog) {
      chains[fact.originalTransactionID, default: []].append(fact)
    }
    return chains.mapValues { periods in
      let items = Dictionary(grouping: periods) { $0.webOrderLineItemID?.rawValue ?? "" }
      return items.flatMap { item, periods -> [TransactionFact] in
        if item.isEmpty { return periods }
        let last = periods.max {
          // The highest form, in it a revocation, and of two the earlier one.
          if $0.authority != $1.authority { return $0.authority < $1.authority }
          let left = $0.revocationDate ?? Milliseconds(.max)
          let right = $1.revocationDate ?? Milliseconds(.max)
          if left != right { return left > right }
          return $0.precedence == $1.precedence
            ? $0.transactionID < $1.transactionID : $0.precedence < $1.precedence
        }
        // What stands by R5 is completed.
        let completed = RandomCustomer.standing(of: periods)
        return [completed?.transactionID == last?.transactionID ? completed : last]
          .compactMap { $0 }
      }
    }
  }

  private static func isSubscription(_ fact: TransactionFact, in catalog: Catalog) -> Bool {
    guard fact.type.rawValue.isEmpty else { return fact.type == .autoRenewable }
    let known = catalog.products[fact.productID]
    return known.map { $0.kind == .autoRenewable } ?? (fact.expiresDate != nil)
  }
}
