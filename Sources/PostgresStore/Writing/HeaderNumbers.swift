/// The header of a JWS as a key. Headers are some 4 kB long: an array would hash them byte by byte.
struct HeaderKey: Hashable, Sendable {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func hash(into hasher: inout Hasher) {
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }

  static func == (left: HeaderKey, right: HeaderKey) -> Bool {
    left.bytes.count == right.bytes.count
      && left.bytes.withUnsafeBytes { left in
        right.bytes.withUnsafeBytes { right in
          left.baseAddress == right.baseAddress || left.elementsEqual(right)
        }
      }
  }
}

/// The number of a header in the tables, and by what it is found there.
struct HeaderNumber: Hashable, Sendable {
  let number: Int64
  let digest: [UInt8]
}

/// The numbers of some headers in the tables. Nearly always there is one, of Apple's signer of these
/// days, so that they are looked for one by one.
struct HeaderNumbers: Sendable {
  private var entries: [(header: HeaderKey, number: HeaderNumber)] = []

  init() {}

  /// Nil for one that was not added.
  subscript(header: [UInt8]) -> Int64? {
    let header = HeaderKey(header)
    return entries.first { $0.header == header }?.number.number
  }

  var numbers: [HeaderNumber] { entries.map(\.number) }

  mutating func add(_ header: HeaderKey, _ number: HeaderNumber) {
    if entries.contains(where: { $0.number == number }) { return }
    entries.append((header, number))
  }

  mutating func add(_ others: HeaderNumbers) {
    for entry in others.entries { add(entry.header, entry.number) }
  }
}
