import Testing

@testable import TraceExport

@Suite("Header fields for a collector")
struct CollectorHeadersTests {
  @Test("A file of header fields is read")
  func headers() throws {
    let text = "# for the collector\r\nAuthorization:  Bearer a:b \n\nx-team: \tone\n"
    let headers = try CollectorHeaders(parsing: Array(text.utf8))
    #expect(headers.fields.map(\.name) == ["authorization", "x-team"])
    #expect(headers.fields.map(\.value) == ["Bearer a:b", "one"])
    #expect(try CollectorHeaders(parsing: []).fields.isEmpty)
  }

  @Test(
    "A line that is no header field is refused by its number, and not shown",
    arguments: [
      "hunter2", "hunter2:", ": hunter2", "a b: hunter2", "a: hunter2\u{e4}", "a: hunter2\u{7}",
      "Content-Type: hunter2", "host: hunter2", "a: hunter2\rb: c",
    ])
  func invalidHeaders(line: String) {
    do {
      _ = try CollectorHeaders(parsing: Array("x: y\n\(line)\n".utf8))
      Issue.record("\(line) is accepted")
    } catch {
      #expect("\(error)".hasPrefix("line 2: "))
      #expect(!"\(error)".contains("hunter2"))
    }
  }

  @Test("A file that is too long, or has too many fields, is refused")
  func limits() {
    let many = String(repeating: "a: b\n", count: 33)
    let long = "a: " + String(repeating: "b", count: 16_384)
    for text in [many, long] {
      #expect(throws: CollectorHeaders.Invalid.self) {
        try CollectorHeaders(parsing: Array(text.utf8))
      }
    }
  }
}
