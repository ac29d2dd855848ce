import Foundation
import NIOCore
import TestSupport
import Testing

@testable import Wire

/// Another implementation of the JSON form: Python's `google.protobuf.json_format` (Debian packages
/// python3-protobuf and protobuf-compiler, which deploy/test installs).
@Suite("Messages as JSON, compared with Python")
struct MessageJSONOracleTests {
  private static let python = "/usr/bin/python3"
  private static let isInstalled = {
    let outcome = try? run(["-c", "from google.protobuf import json_format"], input: "")
    return outcome?.status == 0
  }()

  private struct Sample {
    let type: MessageType
    let wire: ByteBuffer
  }

  @Test(
    "Random messages of every type have the same JSON, and every form of it is read",
    .enabled(
      if: isInstalled, "python3-protobuf is not installed: the JSON is not compared with Python's"))
  func comparison() throws {
    var generator = SeededRandom(for: "JSON beside Python's")
    var samples: [Sample] = []
    for type in MessageType.all + [MessageType.kinds] {
      for _ in 0..<(type == .kinds ? 200 : 20) {
        samples.append(
          Sample(type: type, wire: ByteBuffer(bytes: type.randomWire(using: &generator))))
      }
    }
    var input = ""
    for sample in samples {
      let json = String(decoding: try sample.type.json(of: sample.wire), as: UTF8.self)
      input += "\(sample.type.name)\t\(hexadecimal(sample.wire))\t\(json)\n"
    }
    let tests = try folder("Tests/ProtobufOracle")
    let protos = try folder("Protos")
    let files = try FileManager.default.subpathsOfDirectory(atPath: protos)
      .filter { $0.hasSuffix(".proto") }
    let outcome = try Self.run(
      [tests + "/compare.py", "--proto_path=\(protos)", "--proto_path=\(tests)"]
        + files.sorted() + ["kinds.proto"], input: input)
    try #require(outcome.status == 0, "\(outcome.errors)")
    let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    try #require(lines.count == samples.count)
    for (sample, line) in zip(samples, lines) {
      try check(sample, line.split(separator: "\t", omittingEmptySubsequences: false))
    }
  }

  /// - Parameter columns: the differences, the bytes as Python encodes them, and forms of the JSON.
  private func check(_ sample: Sample, _ columns: [Substring]) throws {
    let name = sample.type.name
    let json = String(decoding: try sample.type.json(of: sample.wire), as: UTF8.self)
    #expect(columns[0] == "", "\(name): \(json) \(columns[0])")
    for form in columns[2...] {
      let wire = try sample.type.wire(ofJSON: Array(form.utf8))
      #expect(hexadecimal(wire) == columns[1], "\(name): \(form)")
    }
  }

  private func hexadecimal(_ bytes: ByteBuffer) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.readableBytesView.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
      as: UTF8.self)
  }

  private func folder(_ name: String) throws -> String {
    // A linked copy of the package contains only its Sources and Tests.
    URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: name).path
  }

  private static func run(
    _ arguments: [String], input: String
  ) throws -> (status: Int32, output: String, errors: String) {
    // Files instead of pipes, so that neither side blocks the other.
    let folder = try TemporaryFolder()
    let files = ["input", "output", "errors"].map { URL(filePath: folder.file($0)) }
    try Data(input.utf8).write(to: files[0])
    for file in files[1...] { try Data().write(to: file) }
    let process = Process()
    process.executableURL = URL(filePath: python)
    process.arguments = arguments
    process.standardInput = try FileHandle(forReadingFrom: files[0])
    process.standardOutput = try FileHandle(forWritingTo: files[1])
    process.standardError = try FileHandle(forWritingTo: files[2])
    try process.run()
    process.waitUntilExit()
    return (
      process.terminationStatus, try String(contentsOf: files[1], encoding: .utf8),
      try String(contentsOf: files[2], encoding: .utf8)
    )
  }
}
