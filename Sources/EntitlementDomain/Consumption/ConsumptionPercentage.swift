/// Percentages as people write them, and as Apple counts them.
package enum ConsumptionPercentage {
  /// Thousandths of a percent.
  ///
  /// - Parameter text: 0 to 100, with at most three decimals, such as `42.5`.
  /// - Returns: nil for another text.
  package static func thousandths(_ text: String) -> Int64? {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = parts.first, (1...3).contains(whole.utf8.count),
      whole.utf8.allSatisfy(isDigit),
      let percent = Int64(whole)
    else { return nil }
    var thousandths = percent * 1_000
    if parts.count == 2 {
      let decimals = parts[1]
      guard (1...3).contains(decimals.utf8.count), decimals.utf8.allSatisfy(isDigit),
        let fraction = Int64(decimals)
      else { return nil }
      thousandths += fraction * [100, 10, 1][decimals.utf8.count - 1]
    }
    return (0...ConsumptionInformation.allConsumed).contains(thousandths) ? thousandths : nil
  }

  /// As people write it: `42.5`.
  package static func text(_ thousandths: Int64) -> String {
    let (whole, fraction) = thousandths.quotientAndRemainder(dividingBy: 1_000)
    if fraction == 0 { return "\(whole)" }
    var decimals = String(repeating: "0", count: 3 - "\(fraction)".utf8.count) + "\(fraction)"
    while decimals.hasSuffix("0") { decimals.removeLast() }
    return "\(whole).\(decimals)"
  }

  private static func isDigit(_ character: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character)
  }
}
