import Foundation
import Programs
import TestSupport
import Testing

@testable import OperatorCommands

@Suite("The cursor file of a watch")
struct CursorFileTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func contents(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }

  @Test func `a missing file has no cursor; a written file has one`() throws {
    let path = folder.file("cursor")
    let file = CursorFile(path: path)
    #expect(try file.load() == nil)
    for cursor in 1...1_000 { try file.save("\(cursor)") }
    try file.finish()
    #expect(try contents(path) == "1000\n")
    #expect(try file.load() == "1000")
    // No temporary file is left, and only the owner can read the file.
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.file(""))
    #expect(names == ["cursor"])
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
    // It can be written again afterwards.
    try file.save("1001")
    try file.finish()
    #expect(try contents(path) == "1001\n")
  }

  @Test func `a concurrent reader finds one of the cursors`() throws {
    let path = folder.file("cursor")
    let file = CursorFile(path: path)
    try file.save("0")
    try file.finish()
    var last = 0
    for cursor in 1...200 {
      try file.save("\(cursor)")
      let read = try #require(try file.load().flatMap { Int($0) })
      #expect((last...cursor).contains(read))
      last = read
    }
    try file.finish()
    #expect(try file.load() == "200")
  }

  @Test(
    "White space around a cursor is ignored",
    arguments: ["43", "43\n", "43\r\n", "43 "])
  func spaces(text: String) throws {
    let path = try folder.write(text, to: "cursor")
    #expect(try CursorFile(path: path).load() == "43")
  }

  @Test(
    "A file without a valid cursor is refused",
    arguments: ["", "\n", "4 3", "4\n3", "4\03", String(repeating: "4", count: 259)])
  func noCursor(text: String) throws {
    let path = try folder.write(text, to: "cursor")
    let failure = #expect(throws: CommandFailure.self) { try CursorFile(path: path).load() }
    #expect(failure?.reason == .failed)
    #expect(failure?.message?.hasPrefix("\(path): ") == true)
  }

  @Test func `a cursor that cannot be written ends the watch`() throws {
    let file = CursorFile(path: folder.file("nowhere/cursor"))
    try file.save("1")
    #expect(throws: CommandFailure.self) { try file.finish() }
    let failure = #expect(throws: CommandFailure.self) { try file.save("2") }
    #expect(failure?.reason == .failed)
    #expect(failure?.message?.contains("cannot be written") == true)
  }
}
