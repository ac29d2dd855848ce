import FoundationEssentials
import Glibc
import Programs

/// Writes data to stdout.
enum SimulatorOutput {
  /// Writes a whole text.
  ///
  /// - Throws: ``CommandFailure``: lost output must not look like success. It has no message when
  ///   the reader has closed the pipe.
  static func print(_ text: String, terminator: String = "\n") throws(CommandFailure) {
    let code = StandardStream.output.write(text + terminator)
    if code == 0 { return }
    throw CommandFailure(
      .failed,
      code == EPIPE ? nil : "cannot write standard output: \(String(cString: strerror(code)))")
  }
}

extension CommandFailure {
  /// Runs `body`, which writes a file or a directory, and describes its failure for people.
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
    case .fileWriteOutOfSpace: "no space left"
    case .fileWriteVolumeReadOnly: "the file system is read-only"
    case .fileWriteFileExists: "a file of that name exists"
    default: "error \(code.rawValue)"
    }
  }
}
