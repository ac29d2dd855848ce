package import EntitlementDomain

/// The versions of a transaction or renewal info, each with the moments at which it was signed (R53).
///
/// What is kept of many versions depends on their set, never on the order in which they came.
package struct FactHistory: Hashable, Sendable {
  /// The most versions that are kept, besides the standing one and the first.
  package static let limit = 32

  /// The version that stands.
  package private(set) var standing: StatementDigest
  /// All versions, with the standing one.
  package private(set) var versions: [StatementDigest: SigningMoments]

  package init(standing: StatementDigest, signedAt moment: Milliseconds) {
    self.standing = standing
    versions = [standing: SigningMoments(moment)]
  }

  /// Adds a statement that was signed at a moment.
  ///
  /// - Parameter stands: whether it stands from now on.
  package mutating func add(
    _ statement: StatementDigest, signedAt moment: Milliseconds, stands: Bool
  ) {
    if stands { standing = statement }
    if versions[statement] == nil {
      versions[statement] = SigningMoments(moment)
    } else {
      versions[statement]?.insert(moment)
    }
    thin()
  }

  /// The versions that do not stand. The store has a payload of each.
  package var others: Set<StatementDigest> {
    var others = Set(versions.keys)
    others.remove(standing)
    return others
  }

  /// Whether there is one version that was signed once, as of most facts. Nothing is stored then.
  package var isSingle: Bool {
    versions.count == 1 && versions.values.allSatisfy { $0.sorted.count == 1 }
  }

  /// Keeps the versions with the smallest digests, whole; the last moment of the standing version;
  /// and the first moment of all. A version with a larger digest is dropped in whatever order the
  /// versions come, because the smaller digests of others stay.
  private mutating func thin() {
    guard versions.count > Self.limit else { return }
    let kept = Set(versions.keys.sorted().prefix(Self.limit))
    let first = versions.min { left, right in
      (left.value.first, left.key) < (right.value.first, right.key)
    }?.key
    for (version, moments) in versions where !kept.contains(version) {
      var remaining: [Milliseconds] = []
      if version == first { remaining.append(moments.first) }
      if version == standing { remaining.append(moments.last) }
      versions[version] = SigningMoments(remaining)
    }
  }
}

extension FactHistory {
  /// The stored form: for each version, the standing one first, the digest, the number of moments in
  /// one byte, and the moments as big-endian 64-bit integers.
  package var encoded: [UInt8] {
    let order = [standing] + others.sorted()
    return order.flatMap { version -> [UInt8] in
      let moments = versions[version]?.sorted ?? []
      return version.bytes + [UInt8(moments.count)]
        + moments.flatMap { moment in
          stride(from: 56, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: moment.rawValue >> Int64($0))
          }
        }
    }
  }

  /// - Throws: ``StoreError/Code/corrupt`` when the bytes are not those of ``encoded``.
  package init(encoded: [UInt8]) throws(StoreError) {
    var rest = encoded[...]
    var standing: StatementDigest?
    var versions: [StatementDigest: SigningMoments] = [:]
    while let (version, moments) = Self.next(&rest) {
      if standing == nil { standing = version }
      versions[version] = moments
    }
    guard rest.isEmpty, let standing else {
      throw StoreError(.corrupt, "the stored versions of a fact cannot be decoded")
    }
    self.standing = standing
    self.versions = versions
  }

  private static func next(
    _ bytes: inout ArraySlice<UInt8>
  ) -> (StatementDigest, SigningMoments)? {
    guard let version = StatementDigest(bytes.prefix(StatementDigest.length)),
      let count = bytes.dropFirst(StatementDigest.length).first
    else { return nil }
    let moments = bytes.dropFirst(StatementDigest.length + 1).prefix(8 * Int(count))
    guard moments.count == 8 * Int(count) else { return nil }
    let decoded = stride(from: moments.startIndex, to: moments.endIndex, by: 8).map { index in
      Milliseconds(moments[index..<index + 8].reduce(Int64(0)) { $0 << 8 | Int64($1) })
    }
    guard let kept = SigningMoments(decoded) else { return nil }
    bytes = bytes.dropFirst(StatementDigest.length + 1 + moments.count)
    return (version, kept)
  }
}
