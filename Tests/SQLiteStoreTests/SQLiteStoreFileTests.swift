import EntitlementStore
import Foundation
import GRDB
import Glibc
@testable import SQLiteStore
import TestSupport
import Testing

@Suite("The file of the embedded store")
struct SQLiteStoreFileTests {
  private let folder: TemporaryFolder
  private let path: String

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

  private func contents() throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  private func write(_ bytes: [UInt8]) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }

  /// A closed database of the current version with one fact.
  private func makeDatabase() async throws {
    let store = try SQLiteStore.open(at: path)
    try await store.submit(testFact(1))
    await store.close()
  }

  @Test("A newer schema is refused, and nothing is touched")
  func newerSchema() async throws {
    try await makeDatabase()
    var bytes = try contents()
    // `user_version`, big-endian (SQLite, "Database File Format", 1.3).
    bytes[60..<64] = [0, 0, 1, 0]
    try write(bytes)
    #expect(chmod(path, 0o640) == 0)
    #expect(throws: StoreError.self) { try SQLiteStore.open(at: path) }
    #expect(code(opening: path) == .newerSchema)
    #expect(try contents() == bytes)
    #expect(try mode(of: path) == 0o640)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names == ["entitle.sqlite"])
  }

  @Test("A newer schema's message names both versions")
  func newerSchemaMessage() async throws {
    try await makeDatabase()
    var bytes = try contents()
    bytes[60..<64] = [0, 0, 1, 0]
    try write(bytes)
    do throws(StoreError) {
      _ = try SQLiteStore.open(at: path)
      Issue.record("the database was opened")
    } catch {
      #expect(error.message.contains("256"))
      #expect(error.message.contains("up to \(Schema.current.version)"))
    }
  }

  @Test(
    "A file of another kind is refused, and nothing is touched",
    arguments: [
      Array("It was a dark and stormy night.".utf8),
      [UInt8](repeating: 0, count: 8_192),
      Array("SQLite format 3\u{0}".utf8) + [UInt8](repeating: 1, count: 4_080),
    ])
  func otherFile(bytes: [UInt8]) throws {
    try write(bytes)
    #expect(code(opening: path) == .corrupt)
    #expect(try contents() == bytes)
  }

  @Test(
    "A database of another program is refused, and nothing is touched",
    arguments: ["delete", "wal"])
  func otherDatabase(journalMode: String) throws {
    do {
      let other = try DatabaseQueue(path: path)
      try other.writeWithoutTransaction { database in
        try database.execute(
          sql: "PRAGMA journal_mode = \(journalMode); CREATE TABLE things (id INTEGER)")
      }
      try other.close()
    }
    let bytes = try contents()
    #expect(chmod(path, 0o640) == 0)
    #expect(code(opening: path) == .corrupt)
    #expect(try contents() == bytes)
    #expect(try mode(of: path) == 0o640)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names == ["entitle.sqlite"])
  }

  @Test("A database of another program whose tables are only in its log is refused, too")
  func otherDatabaseInLog() throws {
    let source = folder.file("source.sqlite")
    let other = try DatabaseQueue(path: source)
    try other.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA journal_mode = wal; CREATE TABLE things (id INTEGER)")
    }
    // As a crash would leave it.
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: source + suffix, toPath: path + suffix)
    }
    let bytes = try contents()
    let log = try Data(contentsOf: URL(fileURLWithPath: "\(path)-wal"))
    #expect(!log.isEmpty)
    #expect(chmod(path, 0o640) == 0)
    #expect(code(opening: path) == .corrupt)
    #expect(try contents() == bytes)
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(path)-wal")) == log)
    #expect(try mode(of: path) == 0o640)
    try other.close()
  }

  @Test("An empty database without an application id is accepted")
  func emptyDatabase() async throws {
    let other = try DatabaseQueue(path: path)
    try await other.vacuum()
    try other.close()
    #expect(try !contents().isEmpty)
    let store = try SQLiteStore.open(at: path)
    try await store.submit(testFact(1))
    await store.close()
  }

  @Test("A path that cannot be used is an error, not a crash")
  func unusablePaths() throws {
    for path in ["", folder.path, folder.file("missing/entitle.sqlite"), "a\u{0}b", "/"] {
      #expect(code(opening: path) == .internalFault, "path \(path)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test("A failed opening lets go of the lock")
  func failedOpeningUnlocks() throws {
    try write([1, 2, 3])
    #expect(code(opening: path) == .corrupt)
    #expect(code(opening: path) == .corrupt)
    try FileManager.default.removeItem(atPath: path)
    #expect(code(opening: path) == nil)
  }

  @Test("Only the owner may read any of its files, even one that was open to others")
  func permissions() async throws {
    try await makeDatabase()
    #expect(chmod(path, 0o644) == 0)
    let store = try SQLiteStore.open(at: path)
    try await store.submit(testFact(2))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(
      names == ["", "-shm", "-wal"].map { "entitle.sqlite\($0)" }.sorted())
    for name in names {
      #expect(try mode(of: folder.file(name)) == 0o600, "mode of \(name)")
    }
    await store.close()
  }

  @Test("What was answered is in the files at that moment, whatever becomes of the process")
  func answeredIsStored() async throws {
    let store = try SQLiteStore.open(at: path)
    for number in 1...20 {
      try await store.submit(testFact(number))
      // The files as a crash would leave them now.
      let copy = folder.file("copy-\(number).sqlite")
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
      }
      let recovered = try SQLiteStore.open(at: copy)
      #expect(try await recovered.storedNumbers() == Array(1...number))
      await recovered.close()
    }
    await store.close()
  }

  private func mode(of path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }
}
