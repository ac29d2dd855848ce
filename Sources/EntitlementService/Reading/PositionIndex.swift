/// Positions by the hashes of what is there: a hash table that knows nothing of its keys, so that one can
/// be looked up that is not there as such.
///
/// Open addressing with linear probing, at most three quarters full. A place has 8 bytes.
struct PositionIndex: Sendable {
  private struct Place {
    var hash: UInt32
    /// Negative where the place is free.
    var position: Int32
  }

  private static var free: Place { Place(hash: 0, position: -1) }

  /// Empty, or of a power of two.
  private var places: [Place] = []
  private(set) var count = 0

  /// The one of the positions with this hash that `isWanted`.
  func position(hash: Int, where isWanted: (Int32) -> Bool) -> Int32? {
    places.withUnsafeBufferPointer { places in
      guard !places.isEmpty else { return nil }
      let hash = UInt32(truncatingIfNeeded: hash)
      let mask = places.count - 1
      var index = Int(hash) & mask
      while places[index].position >= 0 {
        if places[index].hash == hash, isWanted(places[index].position) {
          return places[index].position
        }
        index = (index + 1) & mask
      }
      return nil
    }
  }

  /// Adds a position that is not there.
  mutating func insert(_ position: Int32, hash: Int) {
    if (count + 1) * 4 > places.count * 3 { grow() }
    count += 1
    fill(Place(hash: UInt32(truncatingIfNeeded: hash), position: position))
  }

  /// Removes a position that is there.
  mutating func remove(_ position: Int32, hash: Int) {
    let mask = places.count - 1
    var hole = Int(UInt32(truncatingIfNeeded: hash)) & mask
    while places[hole].position != position { hole = (hole + 1) & mask }
    count -= 1
    // Whatever was put further back since the hole was taken moves into it, and leaves one itself.
    var index = hole
    while true {
      index = (index + 1) & mask
      guard places[index].position >= 0 else { break }
      let home = Int(places[index].hash) & mask
      if (index - home) & mask >= (index - hole) & mask {
        places[hole] = places[index]
        hole = index
      }
    }
    places[hole] = Self.free
  }

  private mutating func grow() {
    let old = places
    places = [Place](repeating: Self.free, count: max(8, old.count * 2))
    for place in old where place.position >= 0 { fill(place) }
  }

  private mutating func fill(_ place: Place) {
    let mask = places.count - 1
    var index = Int(place.hash) & mask
    while places[index].position >= 0 { index = (index + 1) & mask }
    places[index] = place
  }
}
