import Foundation

/// SplitMix64 (Steele, Lea and Flood, 2014): equal seeds give equal numbers on every machine.
package struct SeededRandom: RandomNumberGenerator {
  package let seed: UInt64
  private var state: UInt64

  /// A random seed, which is printed. `TEST_SEED` in the environment sets it, to repeat a failure.
  package init(for test: String) {
    self.init(seed: Self.givenSeed ?? .random(in: 0 ... .max))
    print("\(test): TEST_SEED=\(seed)")
  }

  package init(seed: UInt64) {
    self.seed = seed
    self.state = seed
  }

  package static var givenSeed: UInt64? {
    ProcessInfo.processInfo.environment["TEST_SEED"].flatMap { UInt64($0) }
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  package mutating func bytes(upTo count: Int) -> [UInt8] {
    (0..<Int.random(in: 0...count, using: &self)).map { _ in
      UInt8.random(in: .min ... .max, using: &self)
    }
  }
}
