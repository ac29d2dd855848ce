/// Text from elsewhere that is shown to a person: what would steer the terminal, or turn the
/// reading order around, is shown as `\u{…}` instead. Identifiers may come from anybody who can
/// submit; without this one could forge the line of another.
enum TerminalText {
  /// - Parameter keepsLines: line breaks stay, for text of several lines.
  static func visible(_ text: String, keepsLines: Bool = false) -> String {
    guard text.unicodeScalars.contains(where: { isSteering($0) }) else { return text }
    var visible = ""
    for scalar in text.unicodeScalars {
      if isSteering(scalar), !(keepsLines && scalar == "\n") {
        visible += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        visible.unicodeScalars.append(scalar)
      }
    }
    return visible
  }

  private static func isSteering(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // Controls of ASCII and of ISO 6429, and the directional ones of Unicode (UAX #9).
    case 0x00..<0x20, 0x7f..<0xa0, 0x061c, 0x200e...0x200f, 0x202a...0x202e, 0x2066...0x2069: true
    default: false
    }
  }
}
