/// Seeds of ``SignatureProbe``: genuine signatures, and numbers at the limits of their range.
enum SignatureCorpus {
  static func seeds() -> [FuzzSeed] {
    let limits: [(String, [UInt8])] = [
      ("0", []), ("1", one), ("n-1", order(less: 1)), ("n", order(less: 0)),
      ("p", field), ("max", [UInt8](repeating: 0xFF, count: 32)),
    ]
    var seeds = [FuzzSeed("genuine", [1]), FuzzSeed("genuine-altered", [1] + one)]
    for (first, r) in limits {
      for (second, s) in limits {
        seeds.append(FuzzSeed("\(first)-\(second)", [0] + padded(r) + padded(s) + padded(one)))
      }
    }
    return seeds
  }

  private static let one = [UInt8](repeating: 0, count: 31) + [1]
  private static let field: [UInt8] =
    [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 12)
    + [UInt8](repeating: 0xFF, count: 12)

  /// The order of P-256 (FIPS 186-5, SP 800-186 section 3.2.1.3) less a small number.
  private static func order(less number: UInt8) -> [UInt8] {
    [
      0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC,
      0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25,
      0x51 - number,
    ]
  }

  private static func padded(_ bytes: [UInt8]) -> [UInt8] {
    bytes.isEmpty ? [UInt8](repeating: 0, count: 32) : bytes
  }
}
