import Foundation
import Logging
import Programs
import Testing

@Suite("Lines of the log")
struct LineLogHandlerTests {
  private struct Failure: Error, CustomStringConvertible {
    var description: String { "it \u{1b}[31mfailed" }
  }

  private static let time = "2026-11-28T08:00:00.125Z"

  private func line(
    _ format: LineLogHandler.Format, _ message: Logger.Message, _ metadata: Logger.Metadata,
    error: (any Error)? = nil
  ) -> String? {
    let event = LogEvent(
      level: .warning, message: message, error: error, metadata: metadata, source: "Tests",
      file: "f", function: "f", line: 1)
    return LineLogHandler(label: "entitled", format: format).line(event, time: Self.time)
  }

  @Test func `text of others stays in its line and in its field`() throws {
    let forged = "x\n\(Self.time) error entitled: the store is full\u{1b}[2J\u{9b}\u{2028}\u{202e}"
    #expect(
      line(.text, "calls are refused", ["bundle_id": "\(forged)", "count": .stringConvertible(2)])
        == "\(Self.time) warning entitled: calls are refused "
        + #"bundle_id="x\u{a}\#(Self.time) error entitled: the store is full"#
        + #"\u{1b}[2J\u{9b}\u{2028}\u{202e}" count=2"#)
    #expect(
      line(.text, "a\r\nb", ["name": #"a" caller="root"#, "empty": "", "word": "com.example"])
        == "\(Self.time) warning entitled: a\\u{d}\\u{a}b "
        + #"empty="" name="a\" caller=\"root" word=com.example"#)
    #expect(
      line(.text, "failed", [:], error: Failure())
        == "\(Self.time) warning entitled: failed " + #"error="it \u{1b}[31mfailed""#)
  }

  @Test func `in JSON numbers are numbers, and text of digits is text`() throws {
    let text = try #require(
      line(
        .json, "one",
        [
          "count": .stringConvertible(3), "largest": .stringConvertible(UInt64.max),
          "ratio": .stringConvertible(0.5), "flag": .stringConvertible(true),
          "nan": .stringConvertible(Double.nan), "bundle_id": "12\n", "message": "forged",
          "list": ["a", .stringConvertible(1)], "tree": ["b": .stringConvertible(2)],
        ]))
    #expect(
      text == #"{"bundle_id":"12\n","count":3,"flag":true,"largest":18446744073709551615,"#
        + #""level":"warning","list":["a",1],"logger":"entitled","message":"one","nan":"nan","#
        + #""ratio":0.5,"time":"\#(Self.time)","tree":{"b":2}}"#)
  }
}
