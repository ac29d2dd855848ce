import Testing

@testable import TraceExport

@Suite("The address of a collector, and header fields for it")
struct CollectorAddressTests {
  @Test(
    "The path of traces is added",
    arguments: [
      ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
      ("http://localhost:4318/", "http://localhost:4318/v1/traces"),
      ("http://[::1]:4318", "http://[::1]:4318/v1/traces"),
      ("https://traces.example.com/otlp", "https://traces.example.com/otlp/v1/traces"),
    ])
  func valid(text: String, url: String) throws {
    #expect(try CollectorAddress(parsing: text).url == url)
  }

  @Test(
    "Anything else is refused, and no secret of it is shown",
    arguments: [
      "x", "127.0.0.1:4318", "//127.0.0.1", "ftp://127.0.0.1", "http://", "http:///v1",
      "http://traces.example.com:4318", "http://127.0.0.1.example.com", "http://10.0.0.1:4318",
      "https://user:hunter2@traces.example.com", "https://hunter2@traces.example.com",
      "https://traces.example.com?key=hunter2", "https://traces.example.com#hunter2",
      "https://traces.example.com/ x", "https://traces.example.com/\r\nx: y",
      "https://" + String(repeating: "x", count: 3_000),
    ])
  func invalid(text: String) {
    do {
      _ = try CollectorAddress(parsing: text)
      Issue.record("\(text) is accepted")
    } catch {
      #expect(!"\(error)".contains("hunter2"))
    }
  }

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
