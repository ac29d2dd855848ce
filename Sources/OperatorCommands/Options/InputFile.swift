import Foundation
import Programs

/// Reads a whole file into memory, up to a limit.
enum InputFile {
  /// - Parameters:
  ///   - path: `-` is stdin.
  ///   - limit: in bytes, so that a wrong file does not fill the memory.
  /// - Throws: ``CommandFailure`` when it cannot be read, or is larger.
  static func contents(of path: String, limit: Int) throws(CommandFailure) -> [UInt8] {
    let data: Data
    do {
      let handle =
        path == "-"
        ? FileHandle.standardInput
        : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      data = try handle.read(upToCount: limit + 1) ?? Data()
    } catch {
      throw CommandFailure(.failed, "\(path): cannot be read")
    }
    guard data.count <= limit else {
      let isWhole = limit.isMultiple(of: 1 << 20)
      throw CommandFailure(
        .failed, "\(path): larger than \(isWhole ? "\(limit >> 20) MiB" : "\(limit) bytes")")
    }
    return [UInt8](data)
  }
}
