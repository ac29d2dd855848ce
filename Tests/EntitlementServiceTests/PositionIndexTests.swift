import TestSupport
import Testing

@testable import EntitlementService

@Suite("Position index")
struct PositionIndexTests {
  @Test("It behaves like a dictionary, also with many equal or adjacent hashes")
  func model() {
    var generator = SeededRandom(for: "position index")
    for hashes in [3, 40, 1 << 40] {
      var index = PositionIndex()
      var model: [Int32: Int] = [:]
      for step in 0..<20_000 {
        let position = Int32.random(in: 0..<200, using: &generator)
        if let hash = model[position] {
          #expect(index.position(hash: hash) { $0 == position } == position)
          if Bool.random(using: &generator) {
            index.remove(position, hash: hash)
            model[position] = nil
            #expect(index.position(hash: hash) { $0 == position } == nil)
          }
        } else {
          let hash = Int.random(in: -hashes..<hashes, using: &generator)
          index.insert(position, hash: hash)
          model[position] = hash
        }
        #expect(index.count == model.count, "seed \(generator.seed), step \(step)")
        if step % 1_000 == 0 {
          for (position, hash) in model {
            #expect(index.position(hash: hash) { $0 == position } == position)
          }
        }
      }
    }
  }

  @Test("An empty index finds nothing")
  func empty() {
    #expect(PositionIndex().position(hash: 1) { _ in true } == nil)
  }
}
