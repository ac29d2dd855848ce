/// An app's version or build number: whole numbers with dots between them, compared one by one as
/// integers of any length, missing ones as 0; never as text, where "10" comes before "9" (R34).
package struct AppVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Decimal digits without leading zeros; "" is 0. No trailing zeros in the list.
  private let components: [String]

  /// Longer than any real one; keeps a comparison short.
  private static let maximumLength = 1_024

  /// - Returns: nil unless every component is a whole number, such as in "2.0b1" or "".
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

  /// The first component alone (R34).
  package var leadingComponent: AppVersion { AppVersion(components: Array(components.prefix(1))) }

  package static func < (left: Self, right: Self) -> Bool {
    for index in 0..<max(left.components.count, right.components.count) {
      let leftDigits = index < left.components.count ? left.components[index] : ""
      let rightDigits = index < right.components.count ? right.components[index] : ""
      if leftDigits == rightDigits { continue }
      // Without leading zeros the longer number is the greater one.
      let lengths = (leftDigits.utf8.count, rightDigits.utf8.count)
      return lengths.0 == lengths.1 ? leftDigits < rightDigits : lengths.0 < lengths.1
    }
    return false
  }

  /// As compared: "007.10.0" is "7.10".
  package var description: String {
    components.isEmpty
      ? "0" : components.map { $0.isEmpty ? "0" : $0 }.joined(separator: ".")
  }
}
