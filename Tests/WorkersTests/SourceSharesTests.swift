import Testing
import Workers

@Suite("Shares of sources in a limit")
struct SourceSharesTests {
  private func admits(_ shares: inout SourceShares, _ source: WorkSource, weight: Int = 1) -> Bool {
    shares.admit(source, weight: weight)
  }

  /// Admits work until the source is refused, and returns how much.
  private func fill(_ shares: inout SourceShares, _ source: WorkSource) -> Int {
    var count = 0
    while count < 1_000, shares.admit(source) { count += 1 }
    return count
  }

  @Test func `a source may have as much as it leaves to the others`() {
    var shares = SourceShares(limit: 90)
    #expect(fill(&shares, .caller(1)) == 45)
    #expect(fill(&shares, .caller(2)) == 22)
    #expect(!admits(&shares, .caller(1)))
    #expect(admits(&shares, .caller(3)))
    #expect(shares.pending == 68)
    // Room that others leave can be used again.
    for _ in 0..<22 { shares.ended(.caller(2)) }
    #expect(!admits(&shares, .caller(1)))
    #expect(fill(&shares, .caller(2)) == 22)
  }

  @Test func `work has a weight`() {
    var shares = SourceShares(limit: 100)
    #expect(admits(&shares, .caller(1), weight: 30))
    #expect(admits(&shares, .caller(1), weight: 20))
    #expect(!admits(&shares, .caller(1), weight: 1))
    #expect(!admits(&shares, .caller(2), weight: 26))
    #expect(admits(&shares, .caller(2), weight: 25))
    #expect(shares.pending == 75)
    shares.ended(.caller(1), weight: 20)
    #expect(admits(&shares, .caller(2), weight: 10))
    #expect(shares.pending == 65)
  }

  @Test func `the server itself has no share, only the limit`() {
    var shares = SourceShares(limit: 10)
    #expect(fill(&shares, .server) == 10)
    #expect(!admits(&shares, .caller(1)))
    shares.ended(.server)
    #expect(shares.pending == 9)
    #expect(admits(&shares, .server))
  }

  @Test(arguments: [(-1, 0), (0, 0), (1, 1), (2, 1), (3, 1), (4, 2)])
  func `small limits`(limit: Int, admitted: Int) {
    var shares = SourceShares(limit: limit)
    #expect(fill(&shares, .caller(1)) == admitted)
    shares.ended(.caller(9))
    #expect(shares.pending == admitted)
  }
}
