import Foundation

/// A temporary directory of a test. It is removed with its contents when the test releases it.
final class TemporaryDirectory {
  let path: String

  init() throws {
    let location = FileManager.default.temporaryDirectory
      .appendingPathComponent("entitle-simulator-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: location, withIntermediateDirectories: true)
    path = location.path
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// The names of the files in a directory below this one.
  func files(in name: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(name)").sorted()
  }

  func permissions(of name: String) throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
    return (attributes[.posixPermissions] as? NSNumber)?.intValue
  }

  func replaceFile(_ name: String, with contents: String) throws {
    try Data(contents.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
  }

  func removeFile(_ name: String) throws {
    try FileManager.default.removeItem(atPath: "\(path)/\(name)")
  }

  func copyFile(_ name: String, to copy: String) throws {
    try? removeFile(copy)
    try FileManager.default.copyItem(atPath: "\(path)/\(name)", toPath: "\(path)/\(copy)")
  }
}
