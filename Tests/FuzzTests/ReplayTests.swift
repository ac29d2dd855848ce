import FuzzTargets
import TestSupport
import Testing

/// Runs the seeds and the findings of deploy/fuzz in an ordinary build.
@Suite("Replay of seeds and findings")
struct ReplayTests {
  /// The number of positions at which a seed is cut; a shorter seed is cut at every position.
  private static let cuts = 16
  /// The number of damaged inputs made from each seed.
  private static let damages = 8

  @Test("Seeds keep the invariants", arguments: FuzzTarget.allCases)
  func seeds(target: FuzzTarget) {
    for seed in target.seeds { expect(target, holdsFor: seed.bytes, "\(seed)") }
  }

  @Test("Truncated seeds keep the invariants", arguments: FuzzTarget.allCases)
  func truncation(target: FuzzTarget) {
    for seed in target.seeds {
      let step = max(1, seed.bytes.count / Self.cuts)
      for length in stride(from: 0, to: seed.bytes.count, by: step) {
        expect(target, holdsFor: Array(seed.bytes.prefix(length)), "\(seed) cut at \(length)")
      }
    }
  }

  @Test("Damaged seeds keep the invariants", arguments: FuzzTarget.allCases)
  func damage(target: FuzzTarget) {
    var generator = SeededRandom(for: "damage, \(target.rawValue)")
    let seeds = target.seeds
    let donors = seeds.map(\.bytes)
    for seed in seeds {
      for _ in 0..<Self.damages {
        let bytes = Damage.apply(to: seed.bytes, donors: donors, using: &generator)
        expect(target, holdsFor: bytes, "\(seed), damaged, of seed \(generator.seed)")
      }
    }
  }

  @Test("Random bytes keep the invariants", arguments: FuzzTarget.allCases)
  func random(target: FuzzTarget) {
    var generator = SeededRandom(for: "random bytes, \(target.rawValue)")
    for _ in 0..<500 {
      expect(target, holdsFor: generator.bytes(upTo: 64), "of seed \(generator.seed)")
    }
  }

  @Test("Findings do not fail again")
  func findings() throws {
    for finding in try Finding.all() {
      expect(finding.target, holdsFor: finding.bytes, "\(finding)")
    }
  }

  @Test("A finding has hexadecimal digits with comments between them")
  func findingForm() throws {
    #expect(try Finding.bytes(of: "# a crash\n00 fF\n# more\n10\n") == [0x00, 0xFF, 0x10])
    for text in ["0", "0g", "0x10", "+1", "00 # no comment"] {
      #expect(throws: Finding.NotHexadecimal.self, "\(text)") { try Finding.bytes(of: text) }
    }
  }

  private func expect(_ target: FuzzTarget, holdsFor input: [UInt8], _ origin: String) {
    do {
      try target.run(input)
    } catch {
      Issue.record("\(target.rawValue): \(error): \(origin)")
    }
  }
}
