/// Escapes untrusted text for a terminal or a log: control characters, separators of lines and
/// bidirectional controls become `\u{…}`. Any client can submit identifiers; unescaped, they could
/// forge lines of the output.
package enum TerminalText {
  /// - Parameter keepsLines: whether line breaks are kept, for text of several lines.
  package static func escaped(_ text: String, keepsLines: Bool = false) -> String {
    guard text.unicodeScalars.contains(where: { isControl($0) }) else { return text }
    var escaped = ""
    for scalar in text.unicodeScalars {
      if isControl(scalar), !(keepsLines && scalar == "\n") {
        escaped += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // Control characters of ASCII and ISO 6429; of Unicode the separators of lines and paragraphs,
    // and the bidirectional controls (UAX #9).
    case 0x00..<0x20, 0x7f..<0xa0, 0x061c, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
    default: false
    }
  }
}
