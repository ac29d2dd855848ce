/// Gives each different identifier a number, from 0 in the order of first sight, so that evaluation
/// compares numbers where it would compare text again and again.
///
/// A `Dictionary` takes 28 µs in place of 17 for 400 look-ups among a few products and chains, and 42 in
/// place of 6 for 200 different identifiers. To evaluate a customer with 200 transactions takes 50 to
/// 75 µs in all.
struct IdentifierNumbers<Kind> {
  private struct Entry {
    let identifier: Identifier<Kind>
    let hash: UInt64
    let qualifier: Int
  }

  /// By number.
  private var entries: [Entry] = []
  /// Numbers by hash, with linear probing; empty while a search through all entries is as fast.
  private var slots: [Int32] = []

  private static var linearLimit: Int { 8 }

  /// The number of an identifier, a new one if it was not seen before.
  ///
  /// - Parameter qualifier: the same text under another qualifier is another identifier.
  mutating func number(of identifier: Identifier<Kind>, qualifier: Int = 0) -> Int {
    let hash = Self.hash(of: identifier, qualifier: qualifier)
    if let known = find(identifier, qualifier: qualifier, hash: hash) { return known }
    let number = entries.count
    if number == 0 { entries.reserveCapacity(Self.linearLimit) }
    entries.append(Entry(identifier: identifier, hash: hash, qualifier: qualifier))
    if entries.count > Self.linearLimit {
      // At most half of the slots are taken, so that a probe finds an empty one soon.
      if entries.count * 2 > slots.count { grow() } else { insert(number, hash: hash) }
    }
    return number
  }

  var count: Int { entries.count }

  func identifier(_ number: Int) -> Identifier<Kind> { entries[number].identifier }

  /// The number of an identifier; nil if it was not seen before.
  func existingNumber(of identifier: Identifier<Kind>, qualifier: Int = 0) -> Int? {
    find(
      identifier, qualifier: qualifier, hash: Self.hash(of: identifier, qualifier: qualifier))
  }

  private func find(_ identifier: Identifier<Kind>, qualifier: Int, hash: UInt64) -> Int? {
    if slots.isEmpty {
      return entries.indices.first { matches($0, identifier, qualifier: qualifier, hash: hash) }
    }
    var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[slot] >= 0 {
      let number = Int(slots[slot])
      if matches(number, identifier, qualifier: qualifier, hash: hash) { return number }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  private func matches(
    _ number: Int, _ identifier: Identifier<Kind>, qualifier: Int, hash: UInt64
  ) -> Bool {
    entries[number].hash == hash && entries[number].qualifier == qualifier
      && entries[number].identifier == identifier
  }

  private mutating func insert(_ number: Int, hash: UInt64) {
    var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
    slots[slot] = Int32(truncatingIfNeeded: number)
  }

  private mutating func grow() {
    slots = Array(repeating: -1, count: max(64, slots.count * 4))
    for (number, entry) in entries.enumerated() { insert(number, hash: entry.hash) }
  }

  /// Not keyed: the identifiers are Apple's and the operator's, none of an attacker's choice, and
  /// equal hashes cost time only.
  static func hash(of identifier: Identifier<Kind>, qualifier: Int = 0) -> UInt64 {
    var hash = UInt64(bitPattern: Int64(qualifier)) &+ 0x9e37_79b9_7f4a_7c15
    identifier.withBytes { bytes in
      var offset = 0
      while offset + 8 <= bytes.count {
        hash = mixed(hash, bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        offset += 8
      }
      var rest = UInt64(bytes.count)
      while offset < bytes.count {
        rest = rest << 8 | UInt64(bytes[offset])
        offset += 1
      }
      hash = mixed(hash, rest)
    }
    return hash
  }

  private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let product = (hash ^ word).multipliedFullWidth(by: 0xa076_1d64_78bd_642f)
    return product.high ^ product.low
  }
}

/// Tells whether an identifier may have come before, by its hash alone: customers rarely have two
/// versions of one thing, and those without need no search for them.
///
/// For 200 identifiers it takes 1.1 µs, sorting their hashes 2.0, a `Set` of hashes 3.6 and a `Set` of
/// identifiers 12. With sorted hashes, and a `Dictionary` in ``IdentifierNumbers`` for more than 8
/// identifiers, an evaluation of 200 transactions took 5 to 15 % longer.
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
