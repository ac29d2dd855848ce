import FoundationEssentials
import Glibc

/// A file, a directory or standard output could not be written.
struct OutputError: Error, CustomStringConvertible {
  let description: String
  /// The reader went away: it has seen what it wanted, and there is nothing to tell.
  let isReaderGone: Bool

  private init(description: String, isReaderGone: Bool = false) {
    self.description = description
    self.isReaderGone = isReaderGone
  }

  /// - Parameter code: an `errno`.
  init(writingStandardOutput code: CInt) {
    self.init(
      description: "cannot write standard output: \(String(cString: strerror(code)))",
      isReaderGone: code == EPIPE)
  }

  /// Runs `body` and tells its failure in words for people.
  static func wrapping(_ place: String, _ body: () throws -> Void) throws(OutputError) {
    do {
      try body()
    } catch let error as CocoaError {
      throw OutputError(description: "cannot write \(place): \(reason(of: error.code))")
    } catch {
      throw OutputError(description: "cannot write \(place)")
    }
  }

  private static func reason(of code: CocoaError.Code) -> String {
    switch code {
    case .fileNoSuchFile: "there is no such directory"
    case .fileWriteNoPermission: "not permitted"
    case .fileWriteOutOfSpace: "no room left"
    case .fileWriteVolumeReadOnly: "the file system is read-only"
    case .fileWriteFileExists: "a file of that name is in the way"
    default: "error \(code.rawValue)"
    }
  }
}
