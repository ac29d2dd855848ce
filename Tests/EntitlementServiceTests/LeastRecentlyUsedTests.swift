import Testing

import TestSupport

@testable import EntitlementService

@Suite("LRU dictionary")
struct LeastRecentlyUsedTests {
  @Test("It behaves like a plain list over random operations")
  func model() {
    var generator = SeededRandom(for: "least recently used")
    let seed = generator.seed
    var cache = LeastRecentlyUsed<Int, Int>(costLimit: 20)
    // Oldest first.
    var model: [(key: Int, value: Int, cost: Int)] = []
    for step in 0..<20_000 {
      let key = Int.random(in: 0..<12, using: &generator)
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<5:
        let value = cache.value(for: key)
        let index = model.firstIndex { $0.key == key }
        #expect(value == index.map { model[$0].value }, "seed \(seed), step \(step)")
        if let index { model.append(model.remove(at: index)) }
      case 5..<9:
        let cost = Int.random(in: 1...24, using: &generator)
        let dropped = cache.insert(step, for: key, cost: cost)
        model.removeAll { $0.key == key }
        var expected: [Int] = []
        if cost <= 20 {
          while model.reduce(0, { $0 + $1.cost }) + cost > 20 {
            expected.append(model.removeFirst().key)
          }
          model.append((key, step, cost))
        }
        #expect(dropped.map(\.0) == expected, "seed \(seed), step \(step)")
      default:
        #expect((cache.remove(key) != nil) == model.contains { $0.key == key })
        model.removeAll { $0.key == key }
      }
      #expect(cache.count == model.count)
      #expect(cache.cost == model.reduce(0) { $0 + $1.cost })
      #expect(cache.cost <= 20)
    }
  }
}
