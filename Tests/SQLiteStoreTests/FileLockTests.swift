import EntitlementStore
import Foundation
import Glibc
import SQLiteStore
import TestSupport
import Testing

/// The same with processes is in `SecondServerTests`.
@Suite("The lock of the database file")
struct FileLockTests {
  private let folder: TemporaryFolder
  private let path: String
  private let files = FileManager.default

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("entitle.sqlite")
  }

  private func code(opening path: String) -> StoreError.Code? {
    do throws(StoreError) {
      // Not closed: it goes with its last reference, at once.
      _ = try SQLiteStore.open(at: path)
      return nil
    } catch {
      return error.code
    }
  }

  @Test("A second store is locked out, by whatever name, until the first closes")
  func names() async throws {
    let store = try SQLiteStore.open(at: path)
    let alias = folder.file("alias.sqlite")
    let link = folder.file("link.sqlite")
    try files.createSymbolicLink(atPath: alias, withDestinationPath: path)
    try files.linkItem(atPath: path, toPath: link)
    for name in [path, alias, link] { #expect(code(opening: name) == .locked, "\(name)") }
    // The refusals did not harm the first.
    try await store.submit(testFact(1))
    await store.close()
    // Each name would have a log of its own.
    for name in [path, alias, link] { #expect(code(opening: name) == .internalFault, "\(name)") }
    try files.removeItem(atPath: link)
    #expect(code(opening: alias) == nil)
    #expect(code(opening: path) == nil)
  }

  @Test("A database that was renamed while it is open is locked, and so is a copy with its name")
  func renamed() async throws {
    let store = try SQLiteStore.open(at: path)
    try await store.submit(testFact(1))
    let moved = folder.file("moved.sqlite")
    try files.moveItem(atPath: path, toPath: moved)
    #expect(code(opening: moved) == .locked)
    // A new database would share the log of the former one.
    #expect(code(opening: path) == .corrupt)
    #expect(!files.fileExists(atPath: path))
    try files.copyItem(atPath: moved, toPath: path)
    #expect(code(opening: path) == .locked)
    await #expect { try await store.checkHealth() } throws: { error in
      (error as? StoreError)?.code == .corrupt
    }
    await #expect(throws: StoreError.self) { try await store.submit(testFact(2)) }
    await store.close()
  }

  @Test("A database whose file was deleted, or whose log was, takes no more writes")
  func deleted() async throws {
    for suffix in ["", "-wal"] {
      let path = folder.file("deleted\(suffix).sqlite")
      let store = try SQLiteStore.open(at: path)
      try await store.submit(testFact(1))
      try await store.checkHealth()
      try files.removeItem(atPath: path + suffix)
      await #expect(throws: StoreError.self) { try await store.checkHealth() }
      await #expect(throws: StoreError.self) { try await store.submit(testFact(2)) }
      await store.close()
    }
  }

  @Test("A lock that another holds is respected, and freed with its holder")
  func lockedByAnother() throws {
    #expect(code(opening: path) == nil)
    let descriptor = Glibc.open(path, O_RDWR)
    #expect(descriptor >= 0)
    var range = flock()
    range.l_type = Int16(F_WRLCK)
    range.l_start = 1 << 62
    range.l_len = 1
    // F_OFD_SETLK.
    #expect(fcntl(descriptor, 37, &range) == 0)
    #expect(code(opening: path) == .locked)
    #expect(close(descriptor) == 0)
    #expect(code(opening: path) == nil)
  }

  /// Locks of this process on a file, as the kernel lists them.
  private func locks(on path: String) throws -> [String] {
    let inode = try #require(
      try files.attributesOfItem(atPath: path)[.systemFileNumber] as? Int)
    return try String(contentsOfFile: "/proc/locks", encoding: .utf8)
      .split(separator: "\n").map(String.init)
      .filter { $0.contains(":\(inode) ") }
      .map { $0.drop { $0 != " " }.description }
      .sorted()
  }

  @Test("SQLite's own locks stay when a second store of the process is refused")
  func locksOfSQLite() async throws {
    let store = try SQLiteStore.open(at: path)
    try await store.submit(testFact(1))
    let before = try locks(on: path)
    #expect(before.contains { $0.contains("POSIX") }, "\(before)")
    #expect(before.contains { $0.contains("OFDLCK") }, "\(before)")
    let link = folder.file("link.sqlite")
    try files.linkItem(atPath: path, toPath: link)
    for name in [path, link] { #expect(code(opening: name) == .locked) }
    #expect(try locks(on: path) == before)
    await store.close()
    #expect(try locks(on: path) == [])
  }

  @Test("Only where it is said so, a missing or empty file becomes a database")
  func creating() async throws {
    func code(_ creates: Bool) -> StoreError.Code? {
      do throws(StoreError) {
        _ = try SQLiteStore.open(at: path, creates: creates)
        return nil
      } catch {
        return error.code
      }
    }
    #expect(code(false) == .missing)
    #expect(!files.fileExists(atPath: path))
    #expect(files.createFile(atPath: path, contents: Data()))
    #expect(code(false) == .missing)
    #expect(try Data(contentsOf: URL(filePath: path)).isEmpty)
    // What was last written is in the log, which SQLite would delete.
    for suffix in ["-wal", "-shm"] {
      #expect(files.createFile(atPath: path + suffix, contents: Data([1])))
      #expect(code(true) == .corrupt)
      try files.removeItem(atPath: path)
      #expect(code(true) == .corrupt)
      #expect(try Data(contentsOf: URL(filePath: path + suffix)) == Data([1]))
      try files.removeItem(atPath: path + suffix)
      #expect(files.createFile(atPath: path, contents: Data()))
    }
    #expect(code(true) == nil)
    #expect(code(false) == nil)
  }
}
