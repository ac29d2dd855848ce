import EntitlementStore
import Glibc
import Synchronization

/// The numbers of the headers of JWS. Few signers are about at a time, so those of late are kept in
/// memory. Each write makes sure that they still mean the same: see ``WriteTransaction``.
final class HeaderDirectory: Sendable {
  private struct State {
    var numbers: [HeaderKey: HeaderNumber] = [:]
    /// Counts the times that all was forgotten.
    var generation = 0
  }

  private let pool: PostgresPool
  private let limits: PostgresStoreLimits
  private let state = Mutex(State())

  init(pool: PostgresPool, limits: PostgresStoreLimits) {
    self.pool = pool
    self.limits = limits
  }

  /// The numbers of some headers, which get one if they have none.
  func interned(_ headers: [HeaderKey]) async throws(StoreError) -> HeaderNumbers {
    var found = HeaderNumbers()
    for header in headers {
      if let number = state.withLock({ $0.numbers[header] }) {
        found.add(header, number)
      } else {
        found.add(header, try await intern(header))
      }
    }
    return found
  }

  /// For when the database may not know them any more.
  func forget() {
    state.withLock { state in
      state.numbers.removeAll()
      state.generation += 1
    }
  }

  private func intern(_ header: HeaderKey) async throws(StoreError) -> HeaderNumber {
    let generation = state.withLock { $0.generation }
    // In a transaction of its own: a header that nothing uses in the end does no harm.
    let results = try await pool.write(
      [
        PostgresCommand(Self.insert, [.bytes(header.bytes)]),
        PostgresCommand(Self.find, [.bytes(header.bytes)]),
      ], within: limits.writeTimeLimit)
    guard let rows = results.last, rows.count > 0 else {
      throw StoreError(.internalFault, "a header was not stored")
    }
    let number = HeaderNumber(number: try rows.number(0, 0), digest: try rows.data(0, 1))
    state.withLock { state in
      guard state.generation == generation else { return }
      if state.numbers.count >= limits.maximumHeldHeaders { state.numbers.removeAll() }
      state.numbers[header] = number
    }
    return number
  }

  static let insert = PostgresStatement(
    """
    INSERT INTO headers (bytes) SELECT $1::bytea
    WHERE NOT EXISTS (SELECT 1 FROM headers WHERE sha256(bytes) = sha256($1::bytea))
    ON CONFLICT DO NOTHING
    """, name: "insert_header")
  static let find = PostgresStatement(
    """
    SELECT id, sha256(bytes) FROM headers WHERE sha256(bytes) = sha256($1::bytea)
    """, name: "find_header")
}

/// The header of a JWS as a key. Headers are some 4 kB long, so only both ends are hashed: the serial
/// number of the signer's certificate is among the first bytes.
struct HeaderKey: Hashable, Sendable {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func hash(into hasher: inout Hasher) {
    bytes.withUnsafeBytes { bytes in
      hasher.combine(bytes.count)
      hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes.prefix(256)))
      hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes.suffix(256)))
    }
  }

  static func == (left: HeaderKey, right: HeaderKey) -> Bool {
    left.bytes.count == right.bytes.count
      && left.bytes.withUnsafeBytes { left in
        right.bytes.withUnsafeBytes { right in
          guard let first = left.baseAddress, let second = right.baseAddress else { return true }
          return first == second || memcmp(first, second, left.count) == 0
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
