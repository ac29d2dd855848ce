import Foundation
import Glibc
import Programs
import TestSupport
import Testing

@testable import LoadClient

@Suite("Report files")
struct ReportFileTests {
  @Test("a file keeps its contents until the first write, which replaces them")
  func replacing() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("what was there before, and is longer", to: "report")
    let file = try ReportFile(path)
    #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("what was there"))
    try file.write("first")
    try file.write("second\n")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "first\nsecond\n")
  }

  @Test("a link, a pipe or a device is written to, and not replaced")
  func special() throws {
    let folder = try TemporaryFolder()
    let target = folder.file("target")
    let link = folder.file("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
    try ReportFile(link).write("report")
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "report\n")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == target)

    let pipe = folder.file("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    let reader = open(pipe, O_RDWR | O_NONBLOCK)
    defer { close(reader) }
    try ReportFile(pipe).write("report")
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(reader, &bytes, bytes.count)
    #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == "report\n")
    try ReportFile("/dev/null").write("report")
    var information = stat()
    #expect(stat("/dev/null", &information) == 0 && information.st_mode & S_IFMT == S_IFCHR)
  }

  @Test("a path that cannot be written fails at once, with the reason")
  func unwritable() throws {
    let folder = try TemporaryFolder()
    func message(_ path: String) -> String? {
      do throws(CommandFailure) {
        _ = try ReportFile(path)
        return nil
      } catch {
        return error.message
      }
    }
    let missing = folder.file("missing/report")
    #expect(message(missing) == "\(missing) cannot be written: No such file or directory")
    #expect(message(folder.path) == "\(folder.path) cannot be written: Is a directory")
  }

  @Test("a full device is reported")
  func full() throws {
    let file = try ReportFile("/dev/full")
    let error = #expect(throws: CommandFailure.self) { try file.write("report") }
    #expect(error?.message == "/dev/full cannot be written: No space left on device")
  }
}
