import FoundationEssentials

/// A file or directory could not be written.
struct OutputError: Error, CustomStringConvertible {
  let description: String

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
