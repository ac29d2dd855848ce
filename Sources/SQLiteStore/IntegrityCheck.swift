import Dispatch
import EntitlementStore
import GRDB
import Synchronization

/// Checks the file at the start, within a time limit: a damaged database must not be served.
package enum IntegrityCheck: Hashable, Sendable {
  /// The structure of all tables and indexes is sound, and they agree with each other.
  case complete
  /// The structure is sound. There was no time to compare indexes with their tables.
  case withoutIndexes
  /// There was no time to read the whole file.
  case unfinished
  /// The limit is zero.
  case skipped

  /// - Throws: ``StoreError/Code/corrupt`` with the first finding; errors of SQLite.
  static func run(_ pool: DatabasePool, within limit: Duration) throws -> IntegrityCheck {
    guard limit > .zero else { return .skipped }
    let deadline = Deadline(pool, after: limit)
    defer { deadline.end() }
    return try pool.writeWithoutTransaction { database in
      // The quick check does not look up each row in each index, which takes longest.
      guard try isSound(database, "PRAGMA quick_check(1)", deadline) else { return .unfinished }
      guard try isSound(database, "PRAGMA integrity_check(1)", deadline) else {
        return .withoutIndexes
      }
      return .complete
    }
  }

  /// - Returns: false if the time was over.
  private static func isSound(
    _ database: Database, _ check: String, _ deadline: Deadline
  ) throws -> Bool {
    do {
      let finding = try String.fetchOne(database, sql: check)
      // An interrupted check may report pages that it did not reach.
      if deadline.hasPassed { return false }
      guard finding == "ok" else {
        throw StoreError(.corrupt, "the file is damaged: \(finding ?? "no result")")
      }
      return true
    } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
      return false
    }
  }

  /// Interrupts the connections of a pool after a time.
  private final class Deadline: Sendable {
    private enum State {
      case waiting
      case passed
      case ended
    }

    private let state = Mutex(State.waiting)

    init(_ pool: DatabasePool, after limit: Duration) {
      let nanoseconds = min(limit / .nanoseconds(1), 1e18)
      DispatchQueue.global().asyncAfter(
        deadline: .now() + .nanoseconds(Int(nanoseconds))
      ) { [weak self, weak pool] in
        self?.state.withLock { state in
          guard state == .waiting else { return }
          state = .passed
          // Has no effect on statements that start later.
          pool?.interrupt()
        }
      }
    }

    var hasPassed: Bool { state.withLock { $0 == .passed } }

    func end() {
      state.withLock { if $0 == .waiting { $0 = .ended } }
    }
  }
}
