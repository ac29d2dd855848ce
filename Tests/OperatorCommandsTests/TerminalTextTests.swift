import Programs
import Testing

@testable import OperatorCommands

@Suite("Untrusted text on a terminal")
struct TerminalTextTests {
  @Test(
    "Control characters and bidirectional controls are escaped",
    arguments: [
      ("customer-001", "customer-001"), ("Zoë", "Zoë"),
      ("evil\u{1b}[31m\ncustomer-999  ACTIVE", "evil\\u{1b}[31m\\u{a}customer-999  ACTIVE"),
      ("\u{9b}2J", "\\u{9b}2J"), ("a\u{202e}b", "a\\u{202e}b"), ("a\u{7f}\t", "a\\u{7f}\\u{9}"),
      ("a\u{2028}b\u{2029}", "a\\u{2028}b\\u{2029}"),
    ])
  func visible(text: String, shown: String) {
    #expect(TerminalText.escaped(text) == shown)
  }

  @Test("A table has one line for each row, whatever the cells contain")
  func rows() {
    var table = TextTable(header: ["CUSTOMER", "STATE"])
    table.add(["evil\ncustomer-999  ACTIVE", "INACTIVE"])
    #expect(table.text.split(separator: "\n").count == 2)
  }

  @Test("Line breaks can be kept")
  func lines() {
    #expect(TerminalText.escaped("a\n\u{1b}b", keepsLines: true) == "a\n\\u{1b}b")
  }
}
