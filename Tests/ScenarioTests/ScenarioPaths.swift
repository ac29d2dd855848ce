import Foundation
import Scenarios

/// Where the scenario files of this package lie.
enum ScenarioPaths {
  /// The package's folder. The sources may be reached through a symbolic link, so the real path
  /// leads there.
  static let package = URL(filePath: #filePath).resolvingSymlinksInPath()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static let folder = package.appending(path: "Tests/Scenarios").path

  /// Relative to ``folder``; empty when it cannot be read, which a test of its own tells.
  static let files: [String] = {
    guard let files = try? ScenarioSearch.files(at: folder) else { return [] }
    return files.map { String($0.dropFirst(folder.count + 1)) }
  }()
}
