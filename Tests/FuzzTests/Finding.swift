import Foundation
import FuzzTargets

/// An input on which a target once failed: a file `Findings/TARGET/NAME.hex` with hexadecimal
/// digits. Lines that begin with `#` describe the failure.
struct Finding: Sendable, CustomStringConvertible {
  let target: FuzzTarget
  let name: String
  let bytes: [UInt8]

  var description: String { "\(target.rawValue), \(name)" }

  static func all() throws -> [Finding] {
    // The sources may be reached by a symbolic link.
    let folder = URL(filePath: #filePath).resolvingSymlinksInPath()
      .deletingLastPathComponent().appending(path: "Findings")
    return try FuzzTarget.allCases.flatMap { target in
      let folder = folder.appending(path: target.rawValue)
      // A target without findings has no folder.
      guard FileManager.default.fileExists(atPath: folder.path) else { return [Finding]() }
      return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
        let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        return Finding(target: target, name: name, bytes: try bytes(of: text))
      }
    }
  }

  /// - Throws: when a line is neither a comment nor pairs of digits and white space.
  static func bytes(of text: String) throws -> [UInt8] {
    let digits = try text.split(separator: "\n").filter { !$0.hasPrefix("#") }.joined()
      .filter { !$0.isWhitespace }
      .map { digit in
        guard digit.isASCII, let value = digit.hexDigitValue else { throw NotHexadecimal() }
        return UInt8(value)
      }
    guard digits.count.isMultiple(of: 2) else { throw NotHexadecimal() }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  struct NotHexadecimal: Error {}
}
