import TestSupport
import Testing

@testable import EntitlementDomain

@Suite("What was charged ahead of a period, over time")
struct ChargedAheadTests {
  @Test("R23: at every moment it is what the periods of that moment give")
  func definition() throws {
    let first = SeededRandom(for: "charged ahead").seed
    var changes = 0
    for round in Rounds(2_000, of: "charged ahead") {
      let seed = first &+ UInt64(round)
      var random = SeededRandom(seed: seed)
      let facts = (0..<Int.random(in: 1...12, using: &random)).map { index in
        let start = Int.random(in: 0...20, using: &random)
        var period = Given.period(
          index, of: "c",
          product: Int.random(in: 0...2, using: &random) == 0 ? "basic.monthly" : "pro.monthly",
          group: "g1", from: Double(start),
          to: Double(start + Int.random(in: 1...8, using: &random)))
        if Bool.random(using: &random) {
          period.revocationDate = Given.day(Double(Int.random(in: 0...30, using: &random)))
        }
        return period
      }
      var check = CancellationCheck.never
      let history = try History(Given.record(facts), catalog: Given.catalog, check: &check)
      let chain = try #require(history.chains.first)
      let start = Given.day(Double(Int.random(in: -2...10, using: &random)))
      for period in chain.periods {
        let ahead = ChargedAhead(of: chain, after: period, at: start)
        for day in 0...35 {
          let now = start.advanced(by: Int64(day) * Milliseconds.dayLength)
          let (found, expected) = (
            ahead.charges(at: now), chain.aheadCharges(of: period, at: now)
          )
          #expect(found.latest?.fact == expected.latest?.fact, "TEST_SEED=\(seed), day \(day)")
          #expect(found.change?.fact == expected.change?.fact, "TEST_SEED=\(seed), day \(day)")
          if expected.change != nil { changes += 1 }
        }
      }
    }
    #expect(changes > 100)
  }
}

@Suite("Hashes of identifiers")
struct IdentifierHashTests {
  /// The hash without a seed, as anybody can compute it.
  private func unseeded(_ identifier: TransactionID) -> UInt64 {
    func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
      let product = (hash ^ word).multipliedFullWidth(by: 0xa076_1d64_78bd_642f)
      return product.high ^ product.low
    }
    let bytes = Array(identifier.rawValue.utf8)
    let word = (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[$1]) << (8 * UInt64($1)) }
    let rest = bytes[8...].reduce(UInt64(bytes.count)) { $0 << 8 | UInt64($1) }
    return mixed(mixed(0x9e37_79b9_7f4a_7c15, word), rest)
  }

  @Test("Identifiers that were chosen to collide do not, since the hash has a seed in each process")
  func seed() {
    let chosen = (0..<400_000).lazy
      .map { TransactionID("\(200_000_000 + $0)") }
      .filter { unseeded($0) & 0x7ff == 0 }
    let slots = Set(chosen.map { IdentifierInterner.hash(of: $0) & 0x7ff })
    // About 195 identifiers, in one of 2,048 slots before.
    #expect(chosen.count > 100)
    #expect(slots.count > chosen.count / 2)
  }
}
