import NIOCore
import Testing
import Wire

@Suite("Token bucket")
struct TokenBucketTests {
  private static let start = NIODeadline.uptimeNanoseconds(5_000_000_000)

  /// Takes all tokens that are there at a moment.
  private static func takeAll(_ bucket: inout TokenBucket, at now: NIODeadline) -> Int {
    var count = 0
    while count < 100_000, bucket.take(now: now) { count += 1 }
    return count
  }

  @Test("It holds a second's tokens, and each token comes in its time")
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

  @Test("It fills up when nothing is taken, and no further", arguments: [1, 3, 10, 2_500])
  func quiet(rate: Int) {
    var bucket = TokenBucket(tokensPerSecond: rate)
    for (seconds, tokens) in [(0, rate), (2, rate), (60, rate)] {
      // The attempt that finds no token owes one.
      #expect(Self.takeAll(&bucket, at: Self.start + .seconds(Int64(seconds))) == tokens)
    }
  }

  @Test("Tokens that are owed are repaid first, in a second at most", arguments: [1, 10, 2_500])
  func debt(rate: Int) {
    var bucket = TokenBucket(tokensPerSecond: 10)
    for _ in 0..<15 { bucket.take(now: Self.start) }
    #expect(bucket.nextToken(now: Self.start) == Self.start + .milliseconds(600))
    var deep = TokenBucket(tokensPerSecond: rate)
    for _ in 0..<10_000 { deep.take(now: Self.start) }
    #expect(deep.nextToken(now: Self.start) == Self.start + .seconds(1))
  }

  @Test("By the server's defaults 2,000 short connections a second never wait")
  func promisedRate() {
    var bucket = TokenBucket(tokensPerSecond: RPCLimits().shortConnectionsPerSecond)
    for index in 0..<Int64(120_000) {
      let now = Self.start + .microseconds(500 * index)
      #expect(bucket.nextToken(now: now) == nil)
      bucket.take(now: now)
    }
    // As many at once do not wait either, after a second of rest.
    let later = Self.start + .seconds(61)
    #expect(Self.takeAll(&bucket, at: later) >= 2_000)
  }

  @Test("However often it is asked, it gives no more than its rate after the first second's")
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
}
