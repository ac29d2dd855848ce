import Testing

@testable import EntitlementDomain

@Suite("Numbers of hashes")
struct HashNumbersTests {
  /// Equal hashes of different identifiers are too rare to occur in other tests.
  @Test("Of equal hashes, the one is found whose text is the same", arguments: [3, 8, 9, 40, 300])
  func collisions(count: Int) {
    var numbers = HashNumbers()
    // Three hashes for all, two of which begin at the same slot of the table.
    let hashes = (0..<count).map { [7, 9, 7 | 1 << 40][$0 % 3] as UInt64 }
    for hash in hashes {
      #expect(numbers.find(hash) { _ in false } == nil)
      numbers.append(hash)
    }
    #expect(numbers.count == count)
    for (number, hash) in hashes.enumerated() {
      var asked: [Int] = []
      let found = numbers.find(hash) { candidate in
        asked.append(candidate)
        return candidate == number
      }
      #expect(found == number)
      #expect(asked.allSatisfy { hashes[$0] == hash }, "it was asked for another hash")
    }
    #expect(numbers.find(8) { _ in true } == nil)
  }
}
