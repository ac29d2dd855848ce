package import EntitlementDomain
package import EntitlementStore
import Synchronization

/// Everything that is stored about an account. It has an export permit until it
/// is released.
package struct CustomerExport: Sendable {
  package let account: AccountExport
  package let scope: AppScope
  /// The rows of imports that name it (R89), at most ``ExportLimits/importRows`` for each of its ids.
  package let importRows: [AccountImportRow]
  /// The state at the time of the export.
  package let state: CustomerState
  private let permit: ExportPermit

  init(
    _ account: AccountExport, in scope: AppScope, importRows: [AccountImportRow],
    state: CustomerState, permit: ExportPermit
  ) {
    self.account = account
    self.scope = scope
    self.importRows = importRows
    self.state = state
    self.permit = permit
  }
}

/// Limits of account exports.
package struct ExportLimits: Hashable, Sendable {
  /// The number of concurrent exports. Each keeps a whole account in memory until the client has
  /// read it, and the store reads each over a connection that otherwise serves writes.
  package var exports: Int

  /// The longest time in which the client may read an export. It bounds how long a slow client
  /// keeps a permit. 100 MB, far more than most accounts have, fit at 3 Mbit/s.
  package var time: Duration

  /// Rows of imports in an export, for each id of the account: far more than a team has of one customer.
  package static let importRows = 10_000

  package init(exports: Int = 3, time: Duration = .seconds(300)) {
    self.exports = exports
    self.time = time
  }
}

/// Limits the number of concurrent exports.
final class ExportPermits: Sendable {
  private let limit: Int
  private let taken = Mutex(0)

  init(limit: Int) {
    self.limit = limit
  }

  /// - Throws: ``ServiceError/Code-swift.enum/tooManyExports`` when no permit is free.
  func acquire() throws(ServiceError) -> ExportPermit {
    let isFree = taken.withLock { taken in
      guard taken < limit else { return false }
      taken += 1
      return true
    }
    guard isFree else {
      throw ServiceError(.tooManyExports, "\(limit) exports are running already")
    }
    return ExportPermit(self)
  }

  fileprivate func release() {
    taken.withLock { $0 -= 1 }
  }
}

/// The right to run one export, until it is deallocated.
final class ExportPermit: Sendable {
  private let permits: ExportPermits

  fileprivate init(_ permits: ExportPermits) {
    self.permits = permits
  }

  deinit {
    permits.release()
  }
}
