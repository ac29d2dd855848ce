import Foundation

/// The results of a benchmark, as text and as JSON.
struct Report: Encodable {
  /// One table.
  struct Part: Encodable {
    let title: String
    var figures: [Figure]

    init(_ title: String, _ figures: [Figure]) {
      self.title = title
      self.figures = figures
    }

    func print() {
      Swift.print(title)
      Swift.print(
        Self.line(
          name: "", unit: "", numbers: ["median", "lowest", "highest"], end: "target"))
      for figure in figures {
        let values = figure.values
        let verdict = figure.target.map { target in
          "\(target)" + (figure.isMet == true ? "  met" : "  missed")
        }
        Swift.print(
          Self.line(
            name: figure.name, unit: figure.unit,
            numbers: [values.median, values.lowest, values.highest].map(TableText.number),
            end: verdict ?? ""))
      }
      Swift.print()
    }

    private static func line(name: String, unit: String, numbers: [String], end: String) -> String {
      let line =
        TableText.left(name, 58) + TableText.left(unit, 12)
        + numbers.map { TableText.right($0, 11) }.joined()
      return end.isEmpty ? line : line + "   " + end
    }
  }

  var parts: [Part] = []

  /// - Parameter path: of a file, which is replaced.
  func write(json path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try (try encoder.encode(self) + Data("\n".utf8)).write(to: URL(filePath: path))
  }
}
