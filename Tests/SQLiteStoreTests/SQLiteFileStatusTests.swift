import EntitlementStore
import Foundation
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("The status of a database file")
struct SQLiteFileStatusTests {
  @Test("The version is read while a store has the file open; other files are refused")
  func version() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("entitle.sqlite")
    var error = #expect(throws: StoreError.self) { try SQLiteFileStatus.version(path: path) }
    #expect(error?.code == .missing)
    #expect(!FileManager.default.fileExists(atPath: path))
    let store = try SQLiteStore.open(at: path)
    let version = try SQLiteFileStatus.version(path: path)
    #expect(version.found == Schema.current.version)
    #expect(version.expected == Schema.current.version)
    await store.close()
    let foreign = try folder.write("no database", to: "other.sqlite")
    error = #expect(throws: StoreError.self) { try SQLiteFileStatus.version(path: foreign) }
    #expect(error?.code == .corrupt)
  }
}
