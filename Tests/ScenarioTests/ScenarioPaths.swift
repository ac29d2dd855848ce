import Foundation
import Scenarios

/// The paths of the scenario files of this package.
enum ScenarioPaths {
  /// The package's folder. Symbolic links are resolved, because the sources may be reached through
  /// one.
  static let package = URL(filePath: #filePath).resolvingSymlinksInPath()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static let folder = package.appending(path: "Tests/Scenarios").path

  /// Relative to ``folder``; empty when it cannot be read, for which a separate test fails.
  static let files: [String] = {
    guard let files = try? ScenarioSearch.files(at: folder) else { return [] }
    return files.map { String($0.dropFirst(folder.count + 1)) }
  }()
}
