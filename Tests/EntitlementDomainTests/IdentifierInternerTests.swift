import TestSupport
import Testing

@testable import EntitlementDomain

@Suite("Interning of identifiers")
struct IdentifierInternerTests {
  private struct Key: Hashable {
    let bytes: [UInt8]
    let qualifier: Int
  }

  /// Few letters and many lengths, so that many texts are equal or differ in one place only.
  private func text(_ random: inout SeededRandom) -> String {
    let letters = ["0", "1", "\0", "\u{e9}", "e\u{301}"]
    let length = Int.random(in: 0...24, using: &random)
    let prefix = Bool.random(using: &random) ? "2000000123456789" : ""
    return prefix
      + (0..<length / 3).map { _ in letters.randomElement(using: &random) ?? "" }.joined()
  }

  @Test("Thousands of identifiers get the numbers that a dictionary would give them")
  func likeDictionary() {
    var random = SeededRandom(for: "identifier numbers")
    var numbers = IdentifierInterner<ProductKind>()
    var expected: [Key: Int] = [:]
    var order: [String] = []
    for _ in 0..<20_000 {
      let text = text(&random)
      let qualifier = Int.random(in: -1...2, using: &random)
      let key = Key(bytes: Array(text.utf8), qualifier: qualifier)
      let known = expected[key]
      #expect(numbers.existingNumber(of: ProductID(text), qualifier: qualifier) == known)
      if known == nil {
        expected[key] = order.count
        order.append(text)
      }
      #expect(numbers.number(of: ProductID(text), qualifier: qualifier) == expected[key])
    }
    #expect(numbers.count == order.count)
    #expect(order.count > 3_000, "seed \(random.seed)")
    for (number, text) in order.enumerated() {
      #expect(numbers.identifier(number) == ProductID(text), "seed \(random.seed)")
    }
  }

  @Test(
    "Every count keeps its numbers, through each growth", arguments: [0, 1, 8, 9, 32, 33, 1_000])
  func growth(count: Int) {
    var numbers = IdentifierInterner<TransactionKind>()
    for index in 0..<count {
      #expect(numbers.number(of: TransactionID("t\(index)")) == index)
    }
    for index in (0..<count).reversed() {
      #expect(numbers.existingNumber(of: TransactionID("t\(index)")) == index)
      #expect(numbers.number(of: TransactionID("t\(index)")) == index)
    }
    #expect(numbers.existingNumber(of: "absent") == nil)
    #expect(numbers.count == count)
  }

  @Test("Canonically equivalent text is another identifier, before and after growth")
  func canonicalEquivalence() {
    var numbers = IdentifierInterner<ProductKind>()
    let composed = ProductID("caf\u{e9}")
    let decomposed = ProductID("cafe\u{301}")
    #expect(numbers.number(of: composed) == 0)
    #expect(numbers.existingNumber(of: decomposed) == nil)
    #expect(numbers.number(of: decomposed) == 1)
    for index in 0..<100 { _ = numbers.number(of: ProductID("\(index)")) }
    #expect(numbers.number(of: composed) == 0)
    #expect(numbers.number(of: decomposed) == 1)
  }

  @Test("A qualifier makes another identifier of the same text")
  func qualifier() {
    var numbers = IdentifierInterner<WebOrderLineItemKind>()
    for round in 0..<2 {
      for qualifier in 0..<20 {
        #expect(numbers.number(of: "w", qualifier: qualifier) == qualifier, "round \(round)")
      }
    }
    #expect(numbers.existingNumber(of: "w", qualifier: 20) == nil)
  }

  @Test("A duplicate is always detected, in any position; thousands without one give no false hit")
  func repeats() {
    var random = SeededRandom(for: "repeats")
    for count in [1, 2, 8, 9, 100, 4_000] {
      let ids = (0..<count).map { TransactionID("200000\($0)") }
      var detector = DuplicateDetector(capacity: count)
      for id in ids { detector.insert(hash: IdentifierInterner.hash(of: id)) }
      #expect(!detector.hasDuplicates, "\(count) identifiers")
      let repeated = ids[Int.random(in: 0..<count, using: &random)]
      var again = DuplicateDetector(capacity: count + 1)
      for id in (ids + [repeated]).shuffled(using: &random) {
        again.insert(hash: IdentifierInterner.hash(of: id))
      }
      #expect(again.hasDuplicates, "\(count) identifiers, seed \(random.seed)")
    }
  }

  @Test("Hashes that share a slot, or are 0, are not duplicates of each other")
  func sharedPlaces() {
    var detector = DuplicateDetector(capacity: 4)
    for hash: UInt64 in [0, 16, 32, 15, 31] { detector.insert(hash: hash) }
    #expect(!detector.hasDuplicates)
    detector.insert(hash: 31)
    #expect(detector.hasDuplicates)
    var zeros = DuplicateDetector(capacity: 2)
    zeros.insert(hash: 0)
    zeros.insert(hash: 0)
    #expect(zeros.hasDuplicates)
  }
}
