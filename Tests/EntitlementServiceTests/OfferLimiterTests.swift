import EntitlementDomain
import NIOCore
import Synchronization
import Testing

@testable import EntitlementService

@Suite("Limits of signed offers")
struct OfferLimiterTests {
  private static let scope = AppScope(bundleID: "com.example.scribe", environment: .production)
  private static let sandbox = AppScope(bundleID: "com.example.scribe", environment: .sandbox)

  private final class Uptime: Sendable {
    private let time = Mutex(NIODeadline.uptimeNanoseconds(1_000_000_000))

    var now: NIODeadline { time.withLock { $0 } }

    func advance(by amount: TimeAmount) { time.withLock { $0 = $0 + amount } }
  }

  private let uptime = Uptime()

  private func limiter(_ change: (inout OfferLimits) -> Void) -> OfferLimiter {
    var limits = OfferLimits()
    change(&limits)
    return OfferLimiter(limits) { [uptime] in uptime.now }
  }

  private func take(
    _ limiter: OfferLimiter, _ account: AccountID, in scope: AppScope = scope
  ) -> Duration? {
    limiter.take(scope, CustomerRecord(scope: scope, accountID: account), .account(account))
  }

  @Test("A customer has a burst, then one signature for each interval")
  func customer() {
    let limiter = limiter {
      $0.customerBurst = 2
      $0.customerInterval = .seconds(60)
    }
    #expect(take(limiter, "a") == nil)
    #expect(take(limiter, "a") == nil)
    #expect(take(limiter, "a") == .seconds(60))
    uptime.advance(by: .seconds(45))
    // A refused call takes nothing.
    #expect(take(limiter, "a") == .seconds(15))
    uptime.advance(by: .seconds(15))
    #expect(take(limiter, "a") == nil)
    #expect(take(limiter, "a") == .seconds(60))
    // Others, and the same account elsewhere, have buckets of their own.
    #expect(take(limiter, "b") == nil)
    #expect(take(limiter, "a", in: Self.sandbox) == nil)
  }

  @Test("The limit of an app counts the customers of both environments")
  func app() {
    let limiter = limiter {
      $0.appBurst = 2
      $0.appInterval = .milliseconds(500)
    }
    #expect(take(limiter, "a") == nil)
    #expect(take(limiter, "b", in: Self.sandbox) == nil)
    #expect(take(limiter, "c") == .milliseconds(500))
    uptime.advance(by: .milliseconds(500))
    #expect(take(limiter, "c") == nil)
  }

  @Test("The customer who asked least recently is forgotten first, and no other")
  func forgotten() {
    let limiter = limiter {
      $0.customerBurst = 1
      $0.customers = 2
    }
    #expect(take(limiter, "a") == nil)
    #expect(take(limiter, "b") == nil)
    #expect(take(limiter, "a") != nil)
    #expect(take(limiter, "c") == nil)
    #expect(take(limiter, "a") != nil)
    #expect(take(limiter, "c") != nil)
    #expect(take(limiter, "b") == nil)
  }

  @Test("A customer without an account is known by the first chain, whatever selects it")
  func chains() {
    let limiter = limiter { $0.customerBurst = 1 }
    func record(_ chains: [OriginalTransactionID]) -> CustomerRecord {
      CustomerRecord(
        scope: Self.scope,
        facts: chains.map { chain in
          .transaction(
            TransactionFact(
              bundleID: Self.scope.bundleID, environment: Self.scope.environment,
              originalTransactionID: chain, transactionID: TransactionID(chain.rawValue),
              productID: "p", type: .autoRenewable, purchaseDate: 0, signedDate: 0,
              digest: PayloadDigest(words: (0, 0))))
        })
    }
    #expect(limiter.take(Self.scope, record(["2", "1"]), .appTransaction("7")) == nil)
    #expect(limiter.take(Self.scope, record(["1", "2"]), .transaction("2")) != nil)
    #expect(limiter.take(Self.scope, record([]), .appTransaction("7")) == nil)
    #expect(limiter.take(Self.scope, record([]), .appTransaction("7")) != nil)
  }
}
