import TestSupport

/// Makes an invalid input from a valid one.
enum Damage {
  /// - Parameter donors: inputs whose parts are copied.
  static func apply(
    to bytes: [UInt8], donors: [[UInt8]], using generator: inout SeededRandom
  ) -> [UInt8] {
    var damaged = bytes
    for _ in 0...Int.random(in: 0..<3, using: &generator) {
      change(&damaged, donors: donors, using: &generator)
    }
    return damaged
  }

  private static func change(
    _ bytes: inout [UInt8], donors: [[UInt8]], using generator: inout SeededRandom
  ) {
    guard !bytes.isEmpty else {
      bytes.append(.random(in: .min ... .max, using: &generator))
      return
    }
    let position = Int.random(in: bytes.indices, using: &generator)
    let end = min(bytes.count, position + Int.random(in: 1...32, using: &generator))
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    case 1: bytes[position] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &generator) ?? 0
    case 2: bytes.removeSubrange(position..<end)
    case 3: bytes.insert(contentsOf: bytes[position..<end], at: position)
    case 4: bytes.insert(.random(in: .min ... .max, using: &generator), at: position)
    default:
      let donor = donors.randomElement(using: &generator) ?? []
      let start = Int.random(in: 0...donor.count, using: &generator)
      bytes.replaceSubrange(position..<end, with: donor[start...].prefix(32))
    }
  }
}
