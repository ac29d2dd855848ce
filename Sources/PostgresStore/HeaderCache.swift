import EntitlementStore
import Glibc
import Synchronization

/// Cache of the database ids of JWS headers, and of authors of links, which are stored like headers
/// (`LinkAuthor`). Only a few signers and callers are in use at a time, so the cache is bounded and simply emptied when it is full. Each write checks that its cached ids are still
/// valid: see ``WriteTransaction``.
final class HeaderCache: Sendable {
  private struct State {
    var ids: [HeaderKey: HeaderID] = [:]
    /// Incremented by each ``forget()``, so that a load that began before it is not cached.
    var generation = 0
  }

  private let pool: PostgresPool
  private let limits: PostgresStoreLimits
  private let state = Mutex(State())

  init(pool: PostgresPool, limits: PostgresStoreLimits) {
    self.pool = pool
    self.limits = limits
  }

  /// The ids of headers. A header that has none is inserted.
  func interned(
    _ headers: [HeaderKey], by deadline: ContinuousClock.Instant
  ) async throws(StoreError) -> HeaderIDs {
    var found = HeaderIDs()
    for header in headers {
      if let id = state.withLock({ $0.ids[header] }) {
        found.add(header, id)
      } else {
        found.add(header, try await intern(header, by: deadline))
      }
    }
    return found
  }

  /// Empties the cache. Called when the database may have lost ids, as in a failover.
  func forget() {
    state.withLock { state in
      state.ids.removeAll()
      state.generation += 1
    }
  }

  private func intern(
    _ header: HeaderKey, by deadline: ContinuousClock.Instant
  ) async throws(StoreError) -> HeaderID {
    let generation = state.withLock { $0.generation }
    // A transaction of its own: an id that is never used does no harm.
    let results = try await pool.write(
      [
        PostgresCommand(Self.insert, [.bytes(header.bytes)]),
        PostgresCommand(Self.find, [.bytes(header.bytes)]),
      ], within: ContinuousClock.now.duration(to: deadline))
    guard let rows = results.last, rows.count > 0 else {
      throw StoreError(.internalFault, "the id of a header was not stored")
    }
    let id = HeaderID(id: try rows.number(0, 0), digest: try rows.data(0, 1))
    state.withLock { state in
      guard state.generation == generation else { return }
      if state.ids.count >= limits.maximumCachedHeaders { state.ids.removeAll() }
      state.ids[header] = id
    }
    return id
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

/// The header of a JWS as a dictionary key. A header has about 4 kB, so only its first and last 256
/// bytes are hashed. The serial number of the signer's certificate is among the first bytes.
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

/// The database id of a header, and the SHA-256 by which its row is found.
struct HeaderID: Hashable, Sendable {
  let id: Int64
  let digest: [UInt8]
}

/// The database ids of a few headers. There is nearly always one, so lookups are linear.
struct HeaderIDs: Sendable {
  private var entries: [(header: HeaderKey, id: HeaderID)] = []

  init() {}

  /// Nil for a header that was not added.
  subscript(header: [UInt8]) -> Int64? {
    let header = HeaderKey(header)
    return entries.first { $0.header == header }?.id.id
  }

  /// Nil without an author.
  subscript(author author: LinkAuthor?) -> Int64? {
    author.flatMap { self[$0.encoded] }
  }

  var ids: [HeaderID] { entries.map(\.id) }

  mutating func add(_ header: HeaderKey, _ id: HeaderID) {
    if entries.contains(where: { $0.id == id }) { return }
    entries.append((header, id))
  }

  mutating func add(_ others: HeaderIDs) {
    for entry in others.entries { add(entry.header, entry.id) }
  }
}
