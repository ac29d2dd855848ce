/// Escapes untrusted text for a terminal: control characters and bidirectional controls become
/// `\u{…}`. Any client can submit identifiers; unescaped, they could forge lines of the output.
enum TerminalText {
  /// - Parameter keepsLines: whether line breaks are kept, for text of several lines.
  static func escaped(_ text: String, keepsLines: Bool = false) -> String {
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
    // Control characters of ASCII and ISO 6429, and the bidirectional controls of Unicode (UAX #9).
    case 0x00..<0x20, 0x7f..<0xa0, 0x061c, 0x200e...0x200f, 0x202a...0x202e, 0x2066...0x2069: true
    default: false
    }
  }
}

/// Columns of text, each as wide as its widest cell.
struct TextTable {
  private var rows: [[String]]

  init(header: [String]) {
    rows = [header]
  }

  mutating func add(_ row: [String]) {
    rows.append(row.map { TerminalText.escaped($0) })
  }

  /// Two spaces between columns, none at the end of a line.
  var text: String {
    let widths = (rows.first ?? []).indices.map { column in
      rows.map { $0[column].count }.max() ?? 0
    }
    return rows.map { row in
      let cells = zip(row, widths).map { cell, width in
        cell + String(repeating: " ", count: width - cell.count)
      }
      let line = cells.joined(separator: "  ")
      return String(line.reversed().drop { $0 == " " }.reversed())
    }.joined(separator: "\n")
  }
}
