import FoundationEssentials
import Programs

extension CommandFailure {
  /// Runs `body`, which writes a file or a directory, and tells its failure in words for people.
  static func writing(
    _ place: String, _ body: () throws -> Void
  ) throws(CommandFailure) {
    do {
      try body()
    } catch let error as CocoaError {
      throw CommandFailure(.failed, "cannot write \(place): \(reason(of: error.code))")
    } catch {
      throw CommandFailure(.failed, "cannot write \(place)")
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
