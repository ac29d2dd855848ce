import Framing
import NIOCore
import Testing
import Wire

@Suite("Token bucket")
struct TokenBucketTests {
  private static let start = NIODeadline.uptimeNanoseconds(5_000_000_000)

  /// Takes all available tokens.
  private static func takeAll(_ bucket: inout TokenBucket, at now: NIODeadline) -> Int {
    var count = 0
    while count < 100_000, bucket.take(now: now) { count += 1 }
    return count
  }

  @Test("The capacity is one second's tokens, and tokens are added at the rate")
  func burst() {
    var bucket = TokenBucket(tokensPerSecond: 10)
    for _ in 0..<10 {
      #expect(bucket.nextToken(now: Self.start) == nil)
      bucket.take(now: Self.start)
    }
    #expect(bucket.nextToken(now: Self.start) == Self.start + .milliseconds(100))
    #expect(bucket.nextToken(now: Self.start + .milliseconds(99)) != nil)
    #expect(bucket.nextToken(now: Self.start + .milliseconds(100)) == nil)
    bucket.take(now: Self.start + .milliseconds(100))
    #expect(
      bucket.nextToken(now: Self.start + .milliseconds(100)) == Self.start + .milliseconds(200))
  }

  @Test("It refills up to its capacity", arguments: [1, 3, 10, 2_500])
  func quiet(rate: Int) {
    var bucket = TokenBucket(tokensPerSecond: rate)
    for (seconds, tokens) in [(0, rate), (2, rate), (60, rate)] {
      // The failed attempt overdraws by one.
      #expect(Self.takeAll(&bucket, at: Self.start + .seconds(Int64(seconds))) == tokens)
    }
  }

  @Test("A debt is repaid first, within one second", arguments: [1, 10, 2_500])
  func debt(rate: Int) {
    var bucket = TokenBucket(tokensPerSecond: 10)
    for _ in 0..<15 { bucket.take(now: Self.start) }
    #expect(bucket.nextToken(now: Self.start) == Self.start + .milliseconds(600))
    var deep = TokenBucket(tokensPerSecond: rate)
    for _ in 0..<10_000 { deep.take(now: Self.start) }
    #expect(deep.nextToken(now: Self.start) == Self.start + .seconds(1))
  }

  @Test("With the server's defaults, 2,000 short-lived connections a second never wait")
  func promisedRate() {
    var bucket = TokenBucket(tokensPerSecond: RPCLimits().shortConnectionsPerSecond)
    for index in 0..<Int64(120_000) {
      let now = Self.start + .microseconds(500 * index)
      #expect(bucket.nextToken(now: now) == nil)
      bucket.take(now: now)
    }
    // After a second of rest, as many at once do not wait either.
    let later = Self.start + .seconds(61)
    #expect(Self.takeAll(&bucket, at: later) >= 2_000)
  }

  @Test("After the first second's tokens, it never exceeds its rate")
  func bound() {
    var bucket = TokenBucket(tokensPerSecond: 100)
    var taken = 0
    var now = Self.start
    while now <= Self.start + .seconds(10) {
      if let next = bucket.nextToken(now: now) {
        now = next
      } else {
        bucket.take(now: now)
        taken += 1
      }
    }
    #expect(taken == 1_100)
  }

  @Test("Rates below one a second, with a capacity and a debt of their own")
  func slow() {
    var bucket = TokenBucket(interval: .seconds(10), capacity: 1, largestDebt: .seconds(30))
    #expect(bucket.nextToken(now: Self.start) == nil)
    for seconds: Int64 in [10, 20, 30, 30] {
      bucket.take(now: Self.start)
      #expect(bucket.nextToken(now: Self.start) == Self.start + .seconds(seconds))
    }
    #expect(bucket.nextToken(now: Self.start + .seconds(30)) == nil)
    // Without debts, a failed attempt costs nothing.
    var pair = TokenBucket(interval: .seconds(4), capacity: 2, largestDebt: .zero)
    for seconds: Int64 in [0, 60] {
      let now = Self.start + .seconds(seconds)
      #expect(Self.takeAll(&pair, at: now) == 2)
      #expect(pair.nextToken(now: now) == now + .seconds(4))
    }
  }
}
