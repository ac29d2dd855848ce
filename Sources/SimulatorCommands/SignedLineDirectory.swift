import FoundationEssentials
import Programs

/// A directory with one signed payload a file, named by order and kind: `001-transaction.jws`.
struct SignedLineDirectory {
  let path: String

  /// Makes the directory unless it exists, and replaces files of the same names.
  ///
  /// - Throws: ``CommandFailure``.
  func write(_ lines: [SignedLine]) throws(CommandFailure) {
    let directory = URL(filePath: path, directoryHint: .isDirectory)
    try CommandFailure.writing("the directory \(path)") {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }
    for (index, line) in lines.enumerated() {
      let number = String(index + 1)
      let padding = String(repeating: "0", count: max(0, 3 - number.count))
      let file = directory.appending(path: "\(padding)\(number)-\(line.kind.rawValue).jws")
      try CommandFailure.writing(file.path) {
        try Data("\(line.jws)\n".utf8).write(to: file, options: .atomic)
      }
    }
  }
}
