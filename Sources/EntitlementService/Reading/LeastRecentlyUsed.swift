/// A dictionary bounded by the sum of its values' costs: what was not used for the longest goes
/// first. All operations take constant time.
struct LeastRecentlyUsed<Key: Hashable, Value> {
  fileprivate struct Slot {
    var key: Key
    var value: Value
    var cost: Int
    var older: Int
    var newer: Int
  }

  /// Stands for "no slot".
  private static var none: Int { -1 }

  private let costLimit: Int
  private var slots: [Slot?] = []
  private var free: [Int] = []
  private var positions: [Key: Int] = [:]
  private var oldest = none
  private var newest = none
  private(set) var cost = 0

  init(costLimit: Int) {
    self.costLimit = costLimit
  }

  var count: Int { positions.count }
  var limit: Int { costLimit }

  /// The value, which counts as used now.
  mutating func value(for key: Key) -> Value? {
    guard let position = positions[key] else { return nil }
    if position != newest {
      unlink(position)
      linkAsNewest(position)
    }
    return slots[position]?.value
  }

  /// Keeps a value in place of the one with the same key, and drops the oldest until the limit
  /// holds; a value that costs more than the limit is not kept.
  ///
  /// - Returns: the keys and values dropped to make room.
  mutating func insert(_ value: Value, for key: Key, cost: Int) -> [(Key, Value)] {
    remove(key)
    guard cost <= costLimit else { return [] }
    var dropped: [(Key, Value)] = []
    while self.cost + cost > costLimit, let slot = slot(at: oldest) {
      dropped.append((slot.key, slot.value))
      remove(slot.key)
    }
    let slot = Slot(key: key, value: value, cost: cost, older: Self.none, newer: Self.none)
    let position: Int
    if let reused = free.popLast() {
      position = reused
      slots[position] = slot
    } else {
      position = slots.count
      slots.append(slot)
    }
    positions[key] = position
    self.cost += cost
    linkAsNewest(position)
    return dropped
  }

  @discardableResult
  mutating func remove(_ key: Key) -> Value? {
    guard let position = positions.removeValue(forKey: key), let slot = slots[position] else {
      return nil
    }
    unlink(position)
    slots[position] = nil
    free.append(position)
    cost -= slot.cost
    return slot.value
  }

  mutating func removeAll() {
    self = LeastRecentlyUsed(costLimit: costLimit)
  }

  private func slot(at position: Int) -> Slot? {
    position == Self.none ? nil : slots[position]
  }

  private mutating func unlink(_ position: Int) {
    guard let slot = slots[position] else { return }
    if slot.older == Self.none {
      oldest = slot.newer
    } else {
      slots[slot.older]?.newer = slot.newer
    }
    if slot.newer == Self.none {
      newest = slot.older
    } else {
      slots[slot.newer]?.older = slot.older
    }
  }

  private mutating func linkAsNewest(_ position: Int) {
    slots[position]?.older = newest
    slots[position]?.newer = Self.none
    if newest == Self.none { oldest = position } else { slots[newest]?.newer = position }
    newest = position
  }
}

extension LeastRecentlyUsed: Sendable where Key: Sendable, Value: Sendable {}

extension LeastRecentlyUsed.Slot: Sendable where Key: Sendable, Value: Sendable {}
