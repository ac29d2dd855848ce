/// Where the names of one object are, by their hashes: open addressing, at most half full.
struct JSONNameTable {
  /// Indices of nodes; 0 is free, since the first node is never a name.
  private var slots: ContiguousArray<Int32>
  private let mask: Int

  /// - Parameter members: how many names will be inserted at most.
  init(members: Int) {
    var count = 16
    // The limit of the text's length bounds members, so this neither overflows nor grows large.
    while count < 2 * members { count *= 2 }
    slots = ContiguousArray(repeating: 0, count: count)
    mask = count - 1
  }

  /// Inserts a name unless one that reads the same is there.
  ///
  /// - Returns: whether it was inserted.
  mutating func insert(
    _ name: Int, of nodes: ContiguousArray<JSONNode>, in bytes: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    let node = nodes[name]
    let (slot, found) = slot(of: node.hash) { other in
      nodes[other].hash == node.hash && JSONText.areEqual(nodes[other], node, in: bytes)
    }
    guard found == nil else { return false }
    // Indices fit: the limit of the text's length bounds them.
    slots[slot] = Int32(name)
    return true
  }

  /// The index of a name's node; nil when there is none.
  func name(hash: UInt32, where isWanted: (Int) -> Bool) -> Int? {
    slot(of: hash, where: isWanted).name
  }

  /// The slot of a name with this hash, or the free one where it would be.
  private func slot(
    of hash: UInt32, where isWanted: (Int) -> Bool
  ) -> (slot: Int, name: Int?) {
    var slot = Int(hash) & mask
    // Ends, since at least half of the slots are free.
    while slots[slot] != 0 {
      let name = Int(slots[slot])
      if isWanted(name) { return (slot, name) }
      slot = (slot + 1) & mask
    }
    return (slot, nil)
  }
}
