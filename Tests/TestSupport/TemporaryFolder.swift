import Foundation

/// A folder for one test. It is removed with its content when the test ends. Its path is short
/// enough for Unix sockets.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() throws {
    let url = FileManager.default.temporaryDirectory
      .appending(path: "entitle-\(UInt64.random(in: 0...(.max)))")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    path = url.path
  }

  deinit {
    // Files that cannot be removed are left to the system's cleaning of its temporary folder.
    try? FileManager.default.removeItem(atPath: path)
  }

  package func file(_ name: String) -> String {
    "\(path)/\(name)"
  }

  /// - Returns: the path of the new file.
  package func write(_ text: String, to name: String) throws -> String {
    try Data(text.utf8).write(to: URL(filePath: file(name)))
    return file(name)
  }
}
