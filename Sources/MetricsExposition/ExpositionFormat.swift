/// A text form of metrics.
package enum ExpositionFormat: Hashable, Sendable, CaseIterable {
  /// Prometheus text 0.0.4.
  case prometheus
  /// OpenMetrics 1.0.0.
  case openMetrics

  package var contentType: String {
    switch self {
    case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
    case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
    }
  }

  private var mediaType: (type: String, subtype: String, version: String) {
    switch self {
    case .prometheus: ("text", "plain", "0.0.4")
    case .openMetrics: ("application", "openmetrics-text", "1.0.0")
    }
  }

  /// The media ranges of a header that are looked at. Prometheus sends five.
  private static let maximumRanges = 32

  /// The form that a client prefers (RFC 9110 §12.5.1). A client that wants neither form, or says
  /// nothing, gets Prometheus text: a scrape is worth more than the refusal.
  ///
  /// - Parameter accept: the value of the header `Accept`; nil without one.
  package init(accept: String?) {
    let ranges = (accept ?? "").split(separator: ",").prefix(Self.maximumRanges)
      .compactMap { MediaRange($0) }
    let text = Self.prometheus.quality(in: ranges)
    self = Self.openMetrics.quality(in: ranges) > text ? .openMetrics : .prometheus
  }

  /// The quality of the most specific range that names the form; 0 without one.
  private func quality(in ranges: [MediaRange]) -> Int {
    let form = mediaType
    let matching = ranges.compactMap { range -> (specificity: Int, quality: Int)? in
      guard range.version.map({ $0 == form.version }) ?? true else { return nil }
      let versioned = range.version == nil ? 0 : 1
      switch (range.type, range.subtype) {
      case ("*", "*"): return (0, range.quality)
      case (form.type, "*"): return (2, range.quality)
      case (form.type, form.subtype): return (4 + versioned, range.quality)
      default: return nil
      }
    }
    return matching.max { $0.specificity < $1.specificity }?.quality ?? 0
  }
}

/// A media range of `Accept`, such as `text/plain;version=0.0.4;q=0.3`.
private struct MediaRange {
  let type: String
  let subtype: String
  let version: String?
  /// 0 to 1,000.
  let quality: Int

  /// Nil for a malformed range.
  init?(_ text: Substring) {
    let parts = text.split(separator: ";").map { Self.trimmed($0).lowercased() }
    guard let names = parts.first?.split(separator: "/", omittingEmptySubsequences: false),
      names.count == 2
    else { return nil }
    type = String(names[0])
    subtype = String(names[1])
    var version: String?
    var quality = 1_000
    for part in parts.dropFirst() {
      let sides = part.split(separator: "=", maxSplits: 1).map { Self.trimmed($0) }
      guard sides.count == 2 else { continue }
      switch sides[0] {
      case "q":
        guard let value = Double(sides[1]), (0...1).contains(value) else { return nil }
        quality = Int((value * 1_000).rounded())
      case "version":
        version = sides[1].filter { $0 != "\"" }
      default:
        continue
      }
    }
    self.version = version
    self.quality = quality
  }

  private static func trimmed(_ text: some StringProtocol) -> String {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    let start = text.drop(while: isBlank)
    return String(start.reversed().drop(while: isBlank).reversed())
  }
}
