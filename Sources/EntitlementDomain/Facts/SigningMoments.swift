/// The moments at which one version of a fact was signed (R53), without duplicates, the earliest
/// first. An app hands in the same transaction, freshly signed, at every launch, so there may be
/// many.
package struct SigningMoments: Hashable, Sendable {
  /// The most moments that are kept of one version.
  package static let limit = 64

  /// Never empty.
  package private(set) var sorted: [Milliseconds]

  package init(_ moment: Milliseconds) {
    sorted = [moment]
  }

  /// - Parameter moments: in any order.
  /// - Returns: nil without moments.
  package init?(_ moments: some Sequence<Milliseconds>) {
    sorted = Set(moments).sorted()
    if sorted.isEmpty { return nil }
    thin()
  }

  package var first: Milliseconds { sorted[0] }
  package var last: Milliseconds { sorted[sorted.count - 1] }

  /// Adds a moment, and thins out the moments beyond ``limit``.
  package mutating func insert(_ moment: Milliseconds) {
    let index = sorted.firstIndex { $0 >= moment } ?? sorted.count
    if index < sorted.count, sorted[index] == moment { return }
    sorted.insert(moment, at: index)
    thin()
  }

  package mutating func formUnion(_ other: SigningMoments) {
    for moment in other.sorted { insert(moment) }
  }

  /// The last moment at or before another one.
  package func last(notAfter moment: Milliseconds) -> Milliseconds? {
    sorted.last { $0 <= moment }
  }

  /// Keeps the first, the last, and of the others those with the smallest hashes. What is kept
  /// depends on the set of all moments, never on the order in which they came: a moment between the
  /// first and the last stays between them, and enough smaller hashes stay smaller.
  private mutating func thin() {
    guard sorted.count > Self.limit else { return }
    let others = sorted.dropFirst().dropLast()
      .sorted { Self.hash($0) < Self.hash($1) }
      .prefix(Self.limit - 2)
    sorted = ([first, last] + others).sorted()
  }

  /// A fixed permutation of the 64-bit integers (the finalizer of SplitMix64): different moments
  /// have different hashes.
  private static func hash(_ moment: Milliseconds) -> UInt64 {
    var value = UInt64(bitPattern: moment.rawValue)
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }
}
