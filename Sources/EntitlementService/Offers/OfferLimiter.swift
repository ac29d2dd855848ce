import EntitlementDomain
import Framing
package import NIOCore
import Synchronization

/// Limits of signed offers. They are of each server: an offer costs money, and no honest caller comes
/// near them.
package struct OfferLimits: Hashable, Sendable {
  /// Signatures for a customer at once. Each purchase attempt needs one, also after a failure, and a
  /// person who hesitates makes a few.
  package var customerBurst = 10
  /// The time in which a customer gets one more.
  package var customerInterval = TimeAmount.seconds(60)
  /// Signatures for an app at once: a screen with an offer that all see.
  package var appBurst = 1_000
  /// The time in which an app gets one more: a hundred a second take 4 ms of a processor.
  package var appInterval = TimeAmount.milliseconds(10)
  /// Customers whose use is remembered; some 3 MB. The one that asked least recently is
  /// forgotten, and has a full bucket again, within the limit of the app.
  package var customers = 20_000

  package init() {}
}

/// Token buckets for each customer and each app. Safe on any thread.
package final class OfferLimiter: Sendable {
  /// The account; without one, the first chain; without a purchase, what the caller named.
  private struct Customer: Hashable {
    let scope: AppScope
    let selector: CustomerSelector
  }

  private struct State {
    var customers: LeastRecentlyUsed<Customer, TokenBucket>
    /// As many as the catalogs had.
    var apps: [BundleID: TokenBucket] = [:]
  }

  private let limits: OfferLimits
  private let uptime: @Sendable () -> NIODeadline
  private let state: Mutex<State>

  package init(
    _ limits: OfferLimits = OfferLimits(),
    uptime: @escaping @Sendable () -> NIODeadline = { .now() }
  ) {
    self.limits = limits
    self.uptime = uptime
    state = Mutex(State(customers: LeastRecentlyUsed(costLimit: limits.customers)))
  }

  /// Takes a token of the customer and one of the app, if both are there.
  ///
  /// - Returns: when not, the time until both will be.
  func take(
    _ scope: AppScope, _ record: CustomerRecord, _ selector: CustomerSelector
  ) -> Duration? {
    let customer = Customer(scope: scope, selector: record.limitedSelector ?? selector)
    let now = uptime()
    return state.withLock { state in
      var own =
        state.customers.value(for: customer)
        ?? bucket(limits.customerInterval, limits.customerBurst)
      var app = state.apps[scope.bundleID] ?? bucket(limits.appInterval, limits.appBurst)
      if let next = [own.nextToken(now: now), app.nextToken(now: now)].compactMap(\.self).max() {
        return .nanoseconds((next - now).nanoseconds)
      }
      own.take(now: now)
      app.take(now: now)
      _ = state.customers.insert(own, for: customer, cost: 1)
      state.apps[scope.bundleID] = app
      return nil
    }
  }

  private func bucket(_ interval: TimeAmount, _ capacity: Int) -> TokenBucket {
    TokenBucket(interval: interval, capacity: capacity, largestDebt: .nanoseconds(0))
  }
}

extension CustomerRecord {
  /// The same for every selector of a customer; nil when no purchase is known.
  fileprivate var limitedSelector: CustomerSelector? {
    if let accountID { return .account(accountID) }
    var first: OriginalTransactionID?
    for case .transaction(let fact) in facts {
      first = min(fact.originalTransactionID, first ?? fact.originalTransactionID)
    }
    return first.map { .originalTransaction($0) }
  }
}
