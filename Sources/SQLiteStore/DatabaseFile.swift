import EntitlementStore
import GRDB
import Glibc
import Synchronization

/// The database file, held by this process alone for as long as this lives.
///
/// The hold is an `flock` on a file beside it, which the kernel lets go when the process dies. The
/// database file itself is never opened here while SQLite may hold it: closing any descriptor of a
/// file drops all POSIX locks that the process has on it, SQLite's too.
final class DatabaseFile: Sendable {
  /// Absolute and free of symbolic links, so that two names of one file share one lock.
  let path: String
  /// Nil when released.
  private let lockDescriptor: Mutex<Int32?>

  /// Owner only: customers' purchases are personal data. SQLite gives its log the same mode.
  private static let mode: mode_t = 0o600

  /// - Throws: ``StoreError/Code/locked``, ``StoreError/Code/newerSchema``,
  ///   ``StoreError/Code/corrupt`` when it is another kind of file, ``StoreError/Code/full``, or
  ///   ``StoreError/Code/internalFault`` when the path cannot be used. The file is left as it was.
  init(at path: String) throws(StoreError) {
    let resolved = try Self.resolve(path)
    let descriptor = try Self.lock(beside: resolved)
    self.path = resolved
    self.lockDescriptor = Mutex(descriptor)
    do throws(StoreError) {
      try Self.prepare(resolved)
    } catch {
      release()
      throw error
    }
  }

  deinit {
    release()
  }

  /// Lets another process have the file. Does nothing the second time.
  func release() {
    lockDescriptor.withLock { descriptor in
      if let descriptor { _ = close(descriptor) }
      descriptor = nil
    }
  }

  private static func resolve(_ path: String) throws(StoreError) -> String {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw StoreError(.internalFault, "the database path is empty or holds a NUL character")
    }
    if let resolved = canonical(path) {
      var status = stat()
      guard stat(resolved, &status) == 0 else { throw fault("the path cannot be used", errno) }
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw StoreError(.internalFault, "the database path does not name a file")
      }
      return resolved
    }
    // A file yet to be made: its folder has to exist.
    let separator = path.lastIndex(of: "/")
    let folder = separator.map { String(path[...$0]) } ?? "."
    let name = separator.map { path[path.index(after: $0)...] } ?? path[...]
    guard !name.isEmpty, let resolved = canonical(folder) else {
      throw fault("the folder of the database cannot be used", errno)
    }
    return resolved == "/" ? "/\(name)" : "\(resolved)/\(name)"
  }

  private static func canonical(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private static func lock(beside path: String) throws(StoreError) -> Int32 {
    let descriptor = open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else { throw fault("the lock file cannot be opened", errno) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      _ = close(descriptor)
      if code == EWOULDBLOCK {
        throw StoreError(.locked, "another process holds the database \(path)")
      }
      throw fault("the lock file cannot be locked", code)
    }
    return descriptor
  }

  /// Makes the file if it is missing, looks whose it is, and narrows its mode.
  private static func prepare(_ path: String) throws(StoreError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw fault("the database file cannot be opened", errno) }
    defer { _ = close(descriptor) }
    var header = [UInt8](repeating: 0, count: FileHeader.length)
    let count = pread(descriptor, &header, header.count, 0)
    guard count >= 0 else { throw fault("the database file cannot be read", errno) }
    if try FileHeader.owner(Array(header.prefix(count))) == .unknown, hasLog(path) {
      try checkTables(path)
    }
    guard fchmod(descriptor, mode) == 0 else {
      throw fault("the mode of the database file cannot be set", errno)
    }
  }

  private static func hasLog(_ path: String) -> Bool {
    var status = stat()
    return stat("\(path)-wal", &status) == 0 && status.st_size > 0
  }

  /// Looks at the tables in the log without writing to the file, which opening it as ours would do.
  private static func checkTables(_ path: String) throws(StoreError) {
    var configuration = Configuration()
    configuration.label = "SQLiteStore.owner"
    configuration.readonly = true
    do {
      let database = try DatabaseQueue(path: path, configuration: configuration)
      try database.read { try Schema.checkOwner($0) }
      try database.close()
    } catch {
      throw StoreError(translating: error)
    }
  }

  private static func fault(_ message: String, _ code: Int32) -> StoreError {
    StoreError(
      code == ENOSPC || code == EDQUOT ? .full : .internalFault,
      "\(message): \(String(cString: strerror(code)))")
  }
}
