import Foundation

/// Latencies for people, with three digits: `8.31 µs`, `12.4 ms`, `1.20 s`.
enum LatencyText {
  static func of(_ nanoseconds: Double) -> String {
    switch nanoseconds {
    case ..<999.5: "\(Int(nanoseconds.rounded())) ns"
    case ..<999_500: digits(nanoseconds / 1e3) + " µs"
    case ..<999_500_000: digits(nanoseconds / 1e6) + " ms"
    default: digits(nanoseconds / 1e9) + " s"
    }
  }

  /// Three digits, and no more places than they need.
  static func digits(_ value: Double) -> String {
    let places = value < 9.995 ? 2 : value < 99.95 ? 1 : 0
    return String(format: "%.\(places)f", value)
  }
}
