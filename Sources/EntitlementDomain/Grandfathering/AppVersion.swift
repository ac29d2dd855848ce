/// A version or build number of an app: whole numbers separated by dots. Components are compared as
/// integers of any length, and a missing component counts as 0 (R34). A comparison as text would
/// sort "10" before "9".
package struct AppVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The components as decimal digits without leading zeros, so that 0 is "". Trailing zero
  /// components are removed.
  private let components: [String]

  /// In bytes, longer than any real version. It bounds the cost of a comparison.
  private static let maximumLength = 1_024

  /// - Returns: nil unless all components are whole numbers. Examples of nil are "2.0b1" and "".
  package init?(_ text: String) {
    guard !text.isEmpty, text.utf8.count <= Self.maximumLength else { return nil }
    var components: [String] = []
    for part in text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
      guard !part.isEmpty, part.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
      else { return nil }
      components.append(String(decoding: part.drop { $0 == UInt8(ascii: "0") }, as: UTF8.self))
    }
    self.init(components: components)
  }

  private init(components: [String]) {
    self.components = Array(components.reversed().drop { $0.isEmpty }.reversed())
  }

  /// A version with only the first component (R34).
  package var leadingComponent: AppVersion { AppVersion(components: Array(components.prefix(1))) }

  package static func < (left: Self, right: Self) -> Bool {
    for index in 0..<max(left.components.count, right.components.count) {
      let leftDigits = index < left.components.count ? left.components[index] : ""
      let rightDigits = index < right.components.count ? right.components[index] : ""
      if leftDigits == rightDigits { continue }
      // Without leading zeros, the number with more digits is greater.
      let lengths = (leftDigits.utf8.count, rightDigits.utf8.count)
      return lengths.0 == lengths.1 ? leftDigits < rightDigits : lengths.0 < lengths.1
    }
    return false
  }

  /// The normalised version: "7.10" for "007.10.0".
  package var description: String {
    components.isEmpty
      ? "0" : components.map { $0.isEmpty ? "0" : $0 }.joined(separator: ".")
  }
}
