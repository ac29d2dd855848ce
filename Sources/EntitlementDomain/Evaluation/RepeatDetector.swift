/// Tells whether an identifier may have come before, by its hash alone: customers rarely have two
/// versions of one thing, and whoever has none is spared the search for them.
struct RepeatDetector {
  /// Hashes with linear probing; 0 is an empty slot.
  private var slots: [UInt64]
  private(set) var hasRepeats = false

  /// - Parameter capacity: how many identifiers will come at most.
  init(capacity: Int) {
    var size = 16
    while size < capacity * 2 { size *= 2 }
    slots = Array(repeating: 0, count: size)
  }

  mutating func insert(hash: UInt64) {
    let hash = max(1, hash)
    var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[slot] != 0 {
      if slots[slot] == hash {
        hasRepeats = true
        return
      }
      slot = (slot + 1) & (slots.count - 1)
    }
    slots[slot] = hash
  }
}
