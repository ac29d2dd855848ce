import EntitlementStore
import Foundation
import SQLiteStore
import TestSupport
import Testing

/// A folder on a file system of one to ten megabytes that nothing else uses, such as
/// `mount -t tmpfs -o size=2m tmpfs FOLDER`. Only an administrator can make one, so this suite is
/// skipped without it; the limit on the database's own size is tested everywhere.
private let smallFileSystem = ProcessInfo.processInfo.environment["TEST_SMALL_FILE_SYSTEM"]

@Suite(
  "The embedded store on a disk that fills up",
  .enabled(if: smallFileSystem != nil, "TEST_SMALL_FILE_SYSTEM names no folder"))
struct SQLiteStoreFullDiskTests {
  @Test("It refuses whole submissions, answers reads, and goes on when there is room again")
  func fullDisk() async throws {
    let folder = URL(fileURLWithPath: try #require(smallFileSystem))
      .appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let filler = folder.appendingPathComponent("filler")
    try Data(count: 500_000).write(to: filler)

    let store = try SQLiteStore.open(at: folder.path + "/entitle.sqlite")
    var stored = 0
    var failure: StoreError?
    while failure == nil, stored < 20_000 {
      do throws(StoreError) {
        try await store.submit(testFact(stored), testFact(1_000_000 + stored, padding: 2_000))
        stored += 1
      } catch {
        failure = error
      }
    }
    #expect(failure?.code == .full)
    #expect(stored > 10)
    func expectStored(_ count: Int) async throws {
      let numbers = try await store.storedNumbers()
      #expect(numbers == (0..<count).flatMap { [$0, 1_000_000 + $0] })
    }
    try await expectStored(stored)
    #expect(try await store.submit(testFact(0)).dispositions == [.duplicate])

    try FileManager.default.removeItem(at: filler)
    try await store.submit(testFact(stored), testFact(1_000_000 + stored, padding: 2_000))
    try await expectStored(stored + 1)
    await store.close()
    let reopened = try SQLiteStore.open(at: folder.path + "/entitle.sqlite")
    #expect(try await reopened.storedNumbers().count == 2 * (stored + 1))
    await reopened.close()
  }
}
