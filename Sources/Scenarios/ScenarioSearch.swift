import Foundation

/// Finds scenario files.
package enum ScenarioSearch {
  /// Folders of this name are skipped: catalogs are YAML files too.
  private static let catalogFolder = "catalogs"
  private static let extensions: Set<String> = ["yaml", "yml", "json"]

  /// The scenario files at a path: the file itself, or all files of a folder at any depth, sorted
  /// by name within each folder. Folders named `catalogs` are skipped.
  ///
  /// - Throws: ``ScenarioError/Code/unreadable`` when the path does not exist, and for a folder
  ///   without scenarios, which would otherwise pass without running anything.
  package static func files(at path: String) throws(ScenarioError) -> [String] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw ScenarioError(.unreadable, "there is no such file or folder")
    }
    guard isFolder.boolValue else { return [path] }
    let files = try files(inFolder: path)
    guard !files.isEmpty else {
      throw ScenarioError(.unreadable, "the folder contains no scenario files")
    }
    return files
  }

  private static func files(inFolder path: String) throws(ScenarioError) -> [String] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      throw ScenarioError(.unreadable, "the folder \(path) cannot be read")
    }
    let prefix = path.hasSuffix("/") ? path : "\(path)/"
    var files: [String] = []
    for name in names.sorted() where !name.hasPrefix(".") {
      let entry = prefix + name
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: entry, isDirectory: &isFolder) else { continue }
      if isFolder.boolValue {
        if name != catalogFolder { files += try Self.files(inFolder: entry) }
      } else if extensions.contains((name as NSString).pathExtension) {
        files.append(entry)
      }
    }
    return files
  }
}
