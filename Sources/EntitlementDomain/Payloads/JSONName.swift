/// Finds names without making strings of them.
enum JSONName {
  // Drawn anew in each process, so that nobody can choose names that must all be compared.
  private static let seed = UInt64.random(in: .min ... .max)
  // Odd, so that no product loses bits.
  private static let factor = UInt64.random(in: .min ... .max) | 1

  /// It only saves comparisons: equality is always decided on the bytes.
  ///
  /// Eight bytes at a time: both halves of a full product (the step of wyhash). SipHash takes
  /// several times as long for names of this length.
  static func hash(of bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
    let (seed, factor) = (seed, factor)
    func mixed(_ value: UInt64) -> UInt64 {
      let (high, low) = value.multipliedFullWidth(by: factor)
      return high ^ low
    }
    let raw = UnsafeRawBufferPointer(bytes)
    var state = mixed(seed ^ UInt64(truncatingIfNeeded: raw.count))
    var position = 0
    while position + 8 <= raw.count {
      state = mixed(state ^ raw.loadUnaligned(fromByteOffset: position, as: UInt64.self))
      position += 8
    }
    var rest: UInt64 = 0
    while position < raw.count {
      rest = rest << 8 | UInt64(raw[position])
      position += 1
    }
    state = mixed(state ^ rest)
    return UInt32(truncatingIfNeeded: state ^ state >> 32)
  }
}
