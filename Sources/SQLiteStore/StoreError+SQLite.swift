import EntitlementStore
import GRDB

extension StoreError {
  /// Converts errors of GRDB and SQLite. Messages contain only the result code, because messages of
  /// SQLite may contain SQL.
  init(translating error: any Error) {
    switch error {
    case let error as StoreError:
      self = error
    case let error as DatabaseError:
      self.init(
        Self.code(of: error.extendedResultCode),
        "SQLite result code \(error.extendedResultCode.rawValue)")
    default:
      self.init(.internalFault, "unexpected error of type \(type(of: error))")
    }
  }

  private static func code(of result: ResultCode) -> Code {
    // A primary code matches all its extended codes.
    switch result {
    // An exhausted quota appears as a failed write, and a full disk as a log index that cannot
    // grow.
    case .SQLITE_FULL, .SQLITE_IOERR_WRITE, .SQLITE_IOERR_SHMSIZE: .full
    // The disk or the file system cannot return what was written.
    case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_IOERR_READ, .SQLITE_IOERR_SHORT_READ,
      .SQLITE_IOERR_DATA, .SQLITE_IOERR_CORRUPTFS:
      .corrupt
    case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_NOMEM, .SQLITE_IOERR, .SQLITE_INTERRUPT,
      .SQLITE_ABORT:
      .unavailable
    // GRDB's code for a closed connection.
    case .SQLITE_MISUSE: .closed
    default: .internalFault
    }
  }
}
