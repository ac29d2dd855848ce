import EntitlementDomain
import TestSupport
import Testing

@Suite("Signing moments (R53)")
struct SigningMomentsTests {
  @Test("Moments are sorted, each once")
  func sorted() {
    var moments = SigningMoments(20)
    for moment: Milliseconds in [30, 10, 20, 30] { moments.insert(moment) }
    #expect(moments.sorted == [10, 20, 30])
    #expect(moments == SigningMoments([30, 10, 20]))
    #expect(SigningMoments([]) == nil)
  }

  @Test(
    "The last moment at or before another one",
    arguments: [(9, nil), (10, 10), (19, 10), (20, 20), (99, 20)] as [(Int64, Int64?)])
  func last(notAfter moment: Int64, expected: Int64?) throws {
    let moments = try #require(SigningMoments([10, 20]))
    #expect(moments.last(notAfter: Milliseconds(moment)) == expected.map { Milliseconds($0) })
  }

  @Test("Many moments are thinned out alike in every order, and the first and the last are kept")
  func thinning() throws {
    var random = SeededRandom(for: "thinned moments")
    for _ in 0..<50 {
      let all = (0..<200).map { _ in Milliseconds(Int64.random(in: 0..<1_000_000, using: &random)) }
      let kept = try #require(SigningMoments(all))
      #expect(kept.sorted.count == SigningMoments.limit)
      #expect(kept.first == all.min())
      #expect(kept.last == all.max())
      for _ in 0..<3 {
        let order = all.shuffled(using: &random)
        var moments = SigningMoments(order[0])
        for moment in order { moments.insert(moment) }
        #expect(moments == kept)
        var joined = try #require(SigningMoments(order.prefix(90)))
        joined.formUnion(try #require(SigningMoments(order.suffix(150))))
        #expect(joined == kept)
      }
    }
  }
}
