import EntitlementStore
import GRDB
import Glibc
import Synchronization

/// The database file, locked by this process for the lifetime of this object.
///
/// The lock is an `flock` on a separate file, which the kernel releases when the process exits. The
/// database file itself is never opened here while SQLite may have it open: closing any descriptor
/// of a file releases all POSIX locks of the process on it, including SQLite's.
final class DatabaseFile: Sendable {
  /// Absolute, with symbolic links resolved, so that two names of one file share one lock.
  let path: String
  /// Nil when released.
  private let lockDescriptor: Mutex<Int32?>

  /// Owner only: purchases of customers are personal data. SQLite uses the same mode for its log.
  private static let mode: mode_t = 0o600

  /// - Throws: ``StoreError/Code/locked``, ``StoreError/Code/newerSchema``,
  ///   ``StoreError/Code/corrupt`` when it is another kind of file, ``StoreError/Code/full``, or
  ///   ``StoreError/Code/internalFault`` when the path cannot be used. The file is not changed
  ///   then.
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

  /// Releases the lock. Has no effect the second time.
  func release() {
    lockDescriptor.withLock { descriptor in
      if let descriptor { _ = close(descriptor) }
      descriptor = nil
    }
  }

  private static func resolve(_ path: String) throws(StoreError) -> String {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw StoreError(.internalFault, "the database path is empty or contains a NUL character")
    }
    if let resolved = canonical(path) {
      var status = stat()
      guard stat(resolved, &status) == 0 else { throw fault("the path cannot be used", errno) }
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw StoreError(.internalFault, "the database path does not name a file")
      }
      return resolved
    }
    // The file does not exist yet, but its folder must.
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
        throw StoreError(.locked, "another process has the database \(path) open")
      }
      throw fault("the lock file cannot be locked", code)
    }
    return descriptor
  }

  /// Creates the file if it is missing, checks which program it belongs to, and restricts its mode.
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

  /// Checks the tables in the log on a read-only connection, because opening it for writing would
  /// change the file.
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

/// The first bytes of an SQLite database (SQLite, "Database File Format", 1.3). They are checked
/// before SQLite opens the file, because opening it would write to it even if its schema is newer.
enum FileHeader {
  static let length = 108
  private static let magic = Array("SQLite format 3\u{0}".utf8)
  private static let userVersionOffset = 60
  private static let applicationIDOffset = 68
  /// The first page follows the file header and holds the schema table (1.6): the page type, then
  /// the number of cells.
  private static let pageTypeOffset = 100
  private static let cellCountOffset = 103
  private static let leafTable: UInt8 = 0x0d

  /// The program that the file belongs to, as far as the header shows.
  enum Owner {
    case thisProgram
    /// The file has no tables yet, but its log may have some.
    case unknown
  }

  /// - Parameter bytes: the first ``length`` bytes, or fewer if the file is shorter.
  /// - Throws: ``StoreError/Code/corrupt`` when the file is not a database of this program,
  ///   ``StoreError/Code/newerSchema``.
  static func owner(_ bytes: [UInt8]) throws(StoreError) -> Owner {
    // A new file.
    if bytes.isEmpty { return .thisProgram }
    guard bytes.count == length, bytes.starts(with: magic) else {
      throw StoreError(.corrupt, "the file is not a database")
    }
    let version = bigEndian(bytes, at: userVersionOffset)
    let application = bigEndian(bytes, at: applicationIDOffset)
    // Both are zero until the first migration has moved from the log to the file. The tables move
    // with it, on the same page.
    if application == 0, version == 0 {
      guard bytes[pageTypeOffset] == leafTable, bytes[cellCountOffset] == 0,
        bytes[cellCountOffset + 1] == 0
      else { throw Schema.foreign }
      return .unknown
    }
    guard application == Schema.applicationID else { throw Schema.foreign }
    try Schema.checkSupported(version: Int(version))
    return .thisProgram
  }

  private static func bigEndian(_ bytes: [UInt8], at offset: Int) -> Int32 {
    let word = bytes[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return Int32(bitPattern: word)
  }
}
