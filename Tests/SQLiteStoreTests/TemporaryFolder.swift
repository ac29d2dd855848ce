import Foundation

/// A folder for one test, removed with everything in it when the test ends.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory
      .appendingPathComponent("SQLiteStoreTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    path = url.path
  }

  deinit {
    // What cannot be removed is left to the system's cleaning of its temporary folder.
    try? FileManager.default.removeItem(atPath: path)
  }

  func file(_ name: String) -> String {
    "\(path)/\(name)"
  }
}
