import Foundation

/// A drawing with the few elements of SVG that a chart needs. Lengths are in pixels.
struct SVGDocument {
  enum Anchor: String {
    case start, middle, end
  }

  private let width: Double
  private let height: Double
  private var body = ""

  init(width: Double, height: Double) {
    self.width = width
    self.height = height
  }

  mutating func line(
    _ start: (x: Double, y: Double), _ end: (x: Double, y: Double), color: String,
    width: Double = 1
  ) {
    body += """
      <line x1="\(Self.number(start.x))" y1="\(Self.number(start.y))" x2="\(Self.number(end.x))" \
      y2="\(Self.number(end.y))" stroke="\(color)" stroke-width="\(Self.number(width))"/>\n
      """
  }

  mutating func path(_ points: [(x: Double, y: Double)], color: String, width: Double = 1.5) {
    let text = points.map { "\(Self.number($0.x)),\(Self.number($0.y))" }.joined(separator: " ")
    body += """
      <polyline points="\(text)" fill="none" stroke="\(color)" \
      stroke-width="\(Self.number(width))" stroke-linejoin="round"/>\n
      """
  }

  mutating func dot(_ point: (x: Double, y: Double), color: String) {
    body += """
      <circle cx="\(Self.number(point.x))" cy="\(Self.number(point.y))" r="2.5" \
      fill="\(color)"/>\n
      """
  }

  mutating func text(
    _ text: String, at point: (x: Double, y: Double), anchor: Anchor = .start, size: Int = 12,
    color: String = "#444444"
  ) {
    body += """
      <text x="\(Self.number(point.x))" y="\(Self.number(point.y))" font-size="\(size)" \
      text-anchor="\(anchor.rawValue)" fill="\(color)">\(Self.escaped(text))</text>\n
      """
  }

  /// The contents of the file.
  var text: String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.number(width))" \
    height="\(Self.number(height))" viewBox="0 0 \(Self.number(width)) \(Self.number(height))" \
    font-family="Helvetica, Arial, sans-serif">
    <rect width="100%" height="100%" fill="#ffffff"/>
    \(body)</svg>

    """
  }

  private static func number(_ value: Double) -> String {
    value == value.rounded() ? "\(Int(value))" : String(format: "%.1f", value)
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }
}
