/// Cells of the printed tables.
enum TableText {
  /// Aligned to the left, with at least one space after the text.
  static func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  /// Aligned to the right, with at least one space before the text.
  static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(1, width - text.count)) + text
  }

  static func rounded(_ number: Double) -> String { String(Int(number.rounded())) }

  /// With two decimals.
  static func decimals(_ number: Double) -> String {
    let hundredths = Int((number.magnitude * 100).rounded())
    let digits = String(hundredths % 100)
    return (number < 0 ? "-" : "") + "\(hundredths / 100)."
      + (digits.count == 1 ? "0" + digits : digits)
  }

  /// With two decimals when the number is small, and none when it is large.
  static func number(_ number: Double) -> String {
    number.magnitude < 1_000 ? decimals(number) : rounded(number)
  }
}
