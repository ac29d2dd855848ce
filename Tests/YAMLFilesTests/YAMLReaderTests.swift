import CatalogFiles
import YAMLFiles
import EntitlementDomain
import Glibc
import Testing

@Suite("The YAML of configuration files")
struct YAMLReaderTests {
  @Test(
    "Nothing is nothing", arguments: ["", " ", "\n\n", "# only\n  # comments", "---", "---\n\u{a}"])
  func empty(text: String) throws {
    #expect(try YAMLReader.document(in: text) == nil)
  }

  @Test("Lines and columns count from 1, columns in scalars")
  func positions() throws {
    let text = "é: ok\nlist:\n  - [\"🙂\", x]\nb: |\n  two\n  lines\n"
    let entries = try #require(try YAMLReader.document(in: text)?.mapping)
    #expect(entries.map(\.key) == ["é", "list", "b"])
    #expect(entries.map(\.keyPosition.line) == [1, 2, 4])
    #expect(entries[0].value.position == .init(line: 1, column: 4))
    let list = try #require(entries[1].value.sequence?.first?.sequence)
    #expect(list.map(\.position) == [.init(line: 3, column: 6), .init(line: 3, column: 11)])
    #expect(entries[2].value.scalar == "two\nlines\n")
  }

  static let refused: [(String, Int, Int, String)] = [
    ("a: &x b\nc: *x", 2, 4, "aliases"), ("a: &x b\nc: [d,*x]", 2, 7, "aliases"),
    ("a: &x b\nc: {\"d\":*x}", 2, 9, "aliases"), ("&x a: b\n*x : c", 2, 1, "a key is text"),
    ("- &x b\n- *x", 2, 3, "aliases"), ("- *x", 1, 3, "aliases"),
    // Characters that libyaml treats as line breaks or as byte order marks.
    ("a: &x b\nc: [\u{85}*x]", 3, 1, "aliases"), ("a: &x b\nc: [\u{2028}*x]", 3, 1, "aliases"),
    ("a: &x b\nc: [\r*x]", 3, 1, "aliases"), ("a: &x b\nc: [\n\u{FEFF}*x]", 3, 2, "aliases"),
    ("[a]: b", 1, 1, "a key is text"), ("? {a: b}\n: c", 1, 3, "a key is text"),
    ("{[a]}", 1, 2, "a key is text"), ("a: [b", 2, 1, "did not find"),
    ("a: b\na: c", 2, 1, "the same key twice: a"), ("1: b\n\"1\": c", 2, 1, "twice: 1"),
    ("!!int id: b\nid: c", 2, 1, "twice: id"), ("{\"a\\0\", \"a\\0\"}", 1, 9, "twice: a\\u{0}"),
    ("a: b\n---\nc: d", 2, 1, "another document"), ("é: b\na: \u{0}", 2, 4, "control characters"),
    ("%TAG ! tag:example.com\n--- a", 1, 1, "%TAG"),
  ]

  @Test("Unsupported YAML is refused with its position", arguments: refused)
  func refuses(text: String, line: Int, column: Int, message: String) throws {
    let error = #expect(throws: YAMLError.self) { try YAMLReader.document(in: text) }
    #expect(error?.position == .init(line: line, column: column), "\(String(describing: error))")
    #expect(error?.message.contains(message) == true, "\(String(describing: error))")
  }

  @Test("Asterisks, tags, anchors and merge keys in scalars are text")
  func text() throws {
    let text = "a: 2*3\nb: R&D * co # *c\nc: \"*x\"\nd: &e !!binary f\n'g': |\n  *h\n"
    let entries = try YAMLReader.document(in: text)?.mapping
    #expect(entries?.map(\.key) == ["a", "b", "c", "d", "g"])
    #expect(entries?.map(\.value.scalar) == ["2*3", "R&D * co", "*x", "f", "*h\n"])
  }

  @Test(
    "Nesting is bounded for lists and mappings",
    arguments: [("[", "]"), ("{a: ", "}"), ("- ", ""), ("[{a: ", "}]")])
  func depth(open: String, close: String) throws {
    func text(_ depth: Int) -> String {
      String(repeating: open, count: depth) + "x" + String(repeating: close, count: depth)
    }
    let limit = (YAMLReader.maximumDepth - 1) / (open == "[{a: " ? 2 : 1)
    #expect(throws: Never.self) { try YAMLReader.document(in: text(limit)) }
    for depth in [limit + 1, 900, 100_000] {
      #expect(throws: YAMLError.self) { try YAMLReader.document(in: text(depth)) }
    }
  }

  @Test("A bomb of aliases is refused at the first alias", arguments: ["", "\u{85}", "\n\u{FEFF}"])
  func bomb(blank: String) {
    var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in 1...40 {
      let aliases = Array(repeating: "\(blank)*a\(level - 1)", count: 10).joined(separator: ", ")
      text += "a\(level): &a\(level) [\(aliases)]\n"
    }
    text += "? *a40\n: 1"
    let error = #expect(throws: CatalogError.self) { try CatalogFile.parse(text) }
    #expect(error?.issues.count == 1)
    #expect((2...3).contains(error?.issues[0].line ?? 0))
    #expect(error?.issues[0].message.contains("aliases") == true)
  }

  /// Texts as long as a file may be.
  static let large: [String] = {
    let size = CatalogFile.maximumBytes
    let keys = (0..<size / 20).map { "key\($0)" }.joined(separator: ", ")
    return [
      // Nested keys; some readers hash each key with all keys inside it.
      String(repeating: "{", count: 900) + keys + String(repeating: "}", count: 900),
      String(repeating: "? ", count: 900) + "[\(keys)]",
      String(repeating: "{a: {}, ", count: 900) + keys + String(repeating: "}", count: 900),
      (0..<size / 24).map { "%TAG !e\($0)! tag:x\n" }.joined() + "--- a",
      (0..<size / 24).map { "!t\($0) key: value\n" }.joined(),
      (0..<size / 24).map { "[\($0)]: value\n" }.joined(),
      String(repeating: "[", count: size), String(repeating: "- ", count: size / 2),
      String(repeating: "\"", count: size), String(repeating: "&a ", count: size / 3),
    ]
  }()

  @Test("Hostile texts are refused in time", .timeLimit(.minutes(10)))
  func hostile() {
    for text in Self.large {
      let started = Self.processorTime
      #expect(throws: CatalogError.self) { try CatalogFile.parse(text) }
      let time = Self.processorTime - started
      // Far above the normal time, and far below the time without the limits.
      #expect(time < 20, "\(text.prefix(40))")
    }
  }

  /// The time of this thread, in seconds: other programs do not count.
  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
