import Foundation

/// The folder of a scenario file, from which the paths in it lead on.
struct ScenarioFolder: Sendable {
  let path: String

  /// - Throws: ``ScenarioError/Code/unreadable``.
  func contents(of relativePath: String, limit: Int) throws(ScenarioError) -> String {
    let isAbsolute = relativePath.hasPrefix("/")
    return try Self.contents(
      of: isAbsolute || path.isEmpty ? relativePath : "\(path)/\(relativePath)", limit: limit)
  }

  /// The text of a file of UTF-8.
  ///
  /// - Parameter limit: in bytes.
  /// - Throws: ``ScenarioError/Code/unreadable``.
  static func contents(of path: String, limit: Int) throws(ScenarioError) -> String {
    let data: Data
    do {
      let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      data = try handle.read(upToCount: limit + 1) ?? Data()
      try handle.close()
    } catch {
      throw ScenarioError(.unreadable, "the file cannot be read")
    }
    guard data.count <= limit else {
      throw ScenarioError(.unreadable, "the file is larger than \(limit) bytes")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw ScenarioError(.unreadable, "the file is not UTF-8")
    }
    return text
  }
}
