import TestSupport
import Testing

@testable import Traces

@Suite("What a caller sends of its trace")
struct TraceContextTests {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let span = "00f067aa0ba902b7"

  @Test(
    "A valid parent is read",
    arguments: [
      ("00-\(trace)-\(span)-01", true), ("00-\(trace)-\(span)-00", false),
      ("00-\(trace)-\(span)-ff", true), ("00-\(trace)-\(span)-02", false),
      // Of a later version.
      ("cc-\(trace)-\(span)-01", true), ("01-\(trace)-\(span)-01-what-follows", true),
    ])
  func valid(text: String, isSampled: Bool) throws {
    let context = try #require(TraceContext(parents: [text]))
    #expect(context.traceID.hexadecimal == Self.trace)
    #expect(context.spanID?.hexadecimal == Self.span)
    #expect(context.isSampled == isSampled)
    #expect(context.isRemote)
    #expect(context.state == "")
  }

  @Test(
    "A parent that is not valid is ignored",
    arguments: [
      "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-", "00-\(trace)-\(span)-1",
      "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-01-x", "00-\(trace)-\(span)-011",
      "ff-\(trace)-\(span)-01", "0x-\(trace)-\(span)-01", "00_\(trace)-\(span)-01",
      "00-\(trace)_\(span)-01", "00-\(trace)-\(span)_01", "01-\(trace)-\(span)-01x",
      "00-\(trace.uppercased())-\(span)-01", "00-\(trace)-\(span.uppercased())-01",
      "00-\(trace)-\(span)-0G", "00-00000000000000000000000000000000-\(span)-01",
      "00-\(trace)-0000000000000000-01", " 00-\(trace)-\(span)-01", "00-\(trace)-\(span)-01 ",
      "00-\(trace.dropLast())\u{e4}-\(span)-01", "00-\(span)-\(trace)-01",
      "01-\(trace)-\(span)-01-" + String(repeating: "x", count: 300),
    ])
  func invalid(text: String) {
    #expect(TraceContext(parents: [text]) == nil)
  }

  @Test("There must be one parent")
  func several() {
    let text = "00-\(Self.trace)-\(Self.span)-01"
    #expect(TraceContext(parents: []) == nil)
    #expect(TraceContext(parents: [text, text]) == nil)
  }

  @Test("Each change of one byte is refused or read as what it says, and random bytes are refused")
  func hostile() {
    let text = Array("00-\(Self.trace)-\(Self.span)-01".utf8)
    var random = SeededRandom(seed: 7)
    for position in text.indices {
      #expect(TraceContext(parents: [String(decoding: text[..<position], as: UTF8.self)]) == nil)
      for byte in UInt8.min...UInt8.max {
        var changed = text
        changed[position] = byte
        let text = String(decoding: changed, as: UTF8.self)
        guard let context = TraceContext(parents: [text]) else { continue }
        let spanID = context.spanID?.hexadecimal ?? ""
        #expect(text.contains("-\(context.traceID.hexadecimal)-\(spanID)-"))
      }
    }
    for _ in 0..<2_000 {
      let bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      #expect(TraceContext(parents: [String(decoding: bytes, as: UTF8.self)]) == nil)
    }
  }

  private static let longKey = String(repeating: "k", count: 256)
  private static let longValue = String(repeating: "v", count: 257)
  private static let states: [([String], String)] = [
    (["rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"], "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
    (["a=1", "b=2"], "a=1,b=2"), (["a=1,, \t b=2,"], "a=1,b=2"),
    (["a=1\t,b=2"], "a=1,b=2"), (["a=1 ,b=2"], "a=1,b=2"), (["a= ,b=2"], ""),
    (["fw529a3039@dt=FfAB"], "fw529a3039@dt=FfAB"), ([longKey + "=v"], longKey + "=v"),
    ([], ""), ([""], ""), (["a"], ""), (["=1"], ""), (["a="], ""), (["A=1"], ""), (["a=1=2"], ""),
    (["a=1,a=2"], ""), (["a=\u{e4}"], ""), (["a=1\u{7f}"], ""), (["a b=1"], ""), (["a=1\n"], ""),
    ([longKey + "k=v"], ""), (["a=" + longValue], ""),
    ([Array(repeating: "k=v", count: 33).joined(separator: ",")], ""),
    (Array(repeating: "a=" + longValue.prefix(200), count: 3), ""),
  ]

  @Test("The state of other vendors is kept if it is valid", arguments: states)
  func state(values: [String], kept: String) throws {
    let parent = "00-\(Self.trace)-\(Self.span)-01"
    #expect(try #require(TraceContext(parents: [parent], states: values)).state == kept)
  }
}
