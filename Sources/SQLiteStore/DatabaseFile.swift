import EntitlementStore
import GRDB
import Glibc
import Synchronization

/// The database file, locked by this process for the lifetime of this object.
///
/// The lock is on the file itself and not on its name, so that no other name leads around it: neither
/// a hard link, a symbolic link, a bind mount nor a new name while it is open. It is a lock of an open
/// file description (`F_OFD_SETLK`), which the kernel releases when the process ends. It stands for
/// nothing to SQLite: its byte is far behind those that SQLite locks.
///
/// Closing any descriptor of a file releases all POSIX locks of the process on it, including SQLite's.
/// So this object opens the file before SQLite does, closes it after SQLite did, and opens no file that
/// this process has open already.
final class DatabaseFile: Sendable {
  /// A file, whatever its name.
  private struct Identity: Hashable {
    let device: dev_t
    let inode: ino_t

    init(_ status: stat) {
      device = status.st_dev
      inode = status.st_ino
    }
  }

  private struct Lock {
    let descriptor: Int32
    let identity: Identity
  }

  private struct State {
    /// Nil when released.
    var database: Lock?
    /// The write-ahead log, which SQLite finds by its name: a copy of the database under the former
    /// name would share it. SQLite takes no lock on it.
    var log: Lock?
  }

  /// Absolute, with symbolic links resolved.
  let path: String
  private let state = Mutex(State())

  /// The databases that are open in this process.
  private static let openDatabases = Mutex<Set<Identity>>([])

  /// Owner only: purchases of customers are personal data. SQLite uses the same mode for its log.
  private static let mode: mode_t = 0o600

  /// 2^62. SQLite locks 512 bytes from 2^30 (SQLite, "File Locking And Concurrency", 3), and no
  /// database is longer than 2^48 bytes.
  private static let lockedByte: off_t = 1 << 62

  /// `F_OFD_SETLK` of <fcntl.h>, which Swift does not import. It is the same on all architectures.
  private static let setLock: Int32 = 37

  /// - Parameter creates: whether a missing or empty file becomes a new database.
  /// - Throws: ``StoreError/Code/locked``, ``StoreError/Code/missing``,
  ///   ``StoreError/Code/newerSchema``, ``StoreError/Code/corrupt`` when it is another kind of file,
  ///   ``StoreError/Code/full``, or ``StoreError/Code/internalFault`` when the path cannot be used.
  ///   The file is not changed then.
  init(at path: String, creates: Bool) throws(StoreError) {
    self.path = try Self.resolve(path)
    try lock(creates: creates)
    do throws(StoreError) {
      try prepare(creates: creates)
      try lockLog()
    } catch {
      release()
      throw error
    }
  }

  deinit {
    release()
  }

  /// Releases the lock. SQLite must have closed the file. Has no effect the second time.
  func release() {
    state.withLock { state in
      if let log = state.log { _ = close(log.descriptor) }
      if let database = state.database {
        _ = Self.openDatabases.withLock { $0.remove(database.identity) }
        _ = close(database.descriptor)
      }
      state = State()
    }
  }

  /// Locks the write-ahead log, if there is one. Called before SQLite opens the database, and again
  /// when SQLite has created the log.
  ///
  /// - Throws: ``StoreError/Code/locked`` when a server has it open whose database was moved.
  func lockLog() throws(StoreError) {
    let path = "\(path)-wal"
    guard let identity = Self.identity(of: path), state.withLock({ $0.log?.identity }) != identity
    else { return }
    let lock = try Self.lock(path, creates: false)
    state.withLock { state in
      if let former = state.log { _ = close(former.descriptor) }
      state.log = lock
    }
  }

  /// Checks that the files still have their names. Writes to a file that was deleted, or that a backup
  /// has replaced, would be lost.
  ///
  /// - Throws: ``StoreError/Code/corrupt``.
  func checkName() throws(StoreError) {
    let (database, log) = state.withLock { ($0.database?.identity, $0.log?.identity) }
    guard database == nil || Self.identity(of: path) == database,
      log == nil || Self.identity(of: "\(path)-wal") == log
    else {
      throw StoreError(
        .corrupt,
        "the database file or its log was moved, deleted or replaced while the server had it open")
    }
  }

  // MARK: Names

  /// The path of a file that exists, absolute and without symbolic links.
  ///
  /// - Throws: ``StoreError/Code/missing``; ``StoreError/Code/internalFault`` when the path cannot be
  ///   used.
  static func existing(_ path: String) throws(StoreError) -> String {
    let path = try resolve(path)
    guard identity(of: path) != nil else { throw missing("does not exist") }
    return path
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

  private static func identity(of path: String) -> Identity? {
    var status = stat()
    return stat(path, &status) == 0 ? Identity(status) : nil
  }

  // MARK: Locking

  private func lock(creates: Bool) throws(StoreError) {
    let path = path
    let lock = try Self.openDatabases.withLock { (open) throws(StoreError) -> Lock in
      let identity = Self.identity(of: path)
      if let identity, open.contains(identity) { throw Self.locked(path) }
      if identity == nil, !creates { throw Self.missing("does not exist") }
      if identity == nil { try Self.checkIsAlone(path) }
      let lock = try Self.lock(path, creates: identity == nil)
      guard open.insert(lock.identity).inserted else {
        // The name was given to an open database after it was looked at. The descriptor stays open:
        // closing it would release SQLite's locks.
        throw Self.locked(path)
      }
      return lock
    }
    state.withLock { $0.database = lock }
  }

  private static func lock(_ path: String, creates: Bool) throws(StoreError) -> Lock {
    let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (creates ? O_CREAT | O_EXCL : 0)
    let descriptor = Glibc.open(path, flags, mode)
    guard descriptor >= 0 else { throw fault("the database file cannot be opened", errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      let code = errno
      _ = close(descriptor)
      throw fault("the database file cannot be read", code)
    }
    var range = flock()
    range.l_type = Int16(F_WRLCK)
    range.l_whence = Int16(SEEK_SET)
    range.l_start = lockedByte
    range.l_len = 1
    guard fcntl(descriptor, setLock, &range) == 0 else {
      let code = errno
      _ = close(descriptor)
      throw code == EAGAIN || code == EACCES
        ? locked(path) : fault("the database file cannot be locked", code)
    }
    return Lock(descriptor: descriptor, identity: Identity(status))
  }

  // MARK: Contents

  /// Checks that the file is a database of this program, and restricts its mode.
  private func prepare(creates: Bool) throws(StoreError) {
    guard let descriptor = state.withLock({ $0.database?.descriptor }) else { return }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw Self.fault("the database file cannot be read", errno)
    }
    guard status.st_nlink <= 1 else {
      throw StoreError(
        .internalFault,
        "the file has \(status.st_nlink) names (hard links), and each would have a log of its own: "
          + "remove the other names, or copy the file")
    }
    if status.st_size == 0 {
      if !creates { throw Self.missing("is empty") }
      try Self.checkIsAlone(path)
    }
    var header = [UInt8](repeating: 0, count: FileHeader.length)
    let count = pread(descriptor, &header, header.count, 0)
    guard count >= 0 else { throw Self.fault("the database file cannot be read", errno) }
    if try FileHeader.owner(Array(header.prefix(count))) == .unknown, Self.hasLog(path) {
      try Self.checkTables(path)
    }
    guard fchmod(descriptor, Self.mode) == 0 else {
      throw Self.fault("the mode of the database file cannot be set", errno)
    }
  }

  /// SQLite would delete the log of a database that is missing or empty. It has what was last written.
  private static func checkIsAlone(_ path: String) throws(StoreError) {
    for suffix in ["-wal", "-shm"] where identity(of: "\(path)\(suffix)") != nil {
      throw StoreError(
        .corrupt,
        "the database is missing or empty, but \(path)\(suffix) exists: it was moved, or is damaged. "
          + "Put it back, or restore a backup without that file")
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

  // MARK: Errors

  /// - Parameter what: the rest of the sentence.
  static func missing(_ what: String) -> StoreError {
    StoreError(
      .missing,
      "it \(what). If it is new, create it once with --create. If it is not, restore a backup: with "
        + "--create every customer would be new")
  }

  private static func locked(_ path: String) -> StoreError {
    StoreError(.locked, "another process has the database \(path) open")
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
    try Schema.check(application: application)
    try Schema.current.checkSupported(Int(version))
    return .thisProgram
  }

  private static func bigEndian(_ bytes: [UInt8], at offset: Int) -> Int32 {
    let word = bytes[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return Int32(bitPattern: word)
  }
}
