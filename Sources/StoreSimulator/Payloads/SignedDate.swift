import EntitlementDomain

extension JSONObjectWriter {
  /// Writes a date as the environment signs it: the App Store in whole milliseconds, Xcode and
  /// LocalTesting with a fraction of up to four digits. The fraction follows from the date, so that
  /// the same date has the same text.
  mutating func set(_ name: String, _ date: Milliseconds?, signedIn environment: StoreEnvironment?)
  {
    guard let date else { return }
    // Xcode's dates before 1970 are whole: they stand for no date.
    guard environment == .xcode || environment == .localTesting, date.rawValue >= 0 else {
      return set(name, date.rawValue)
    }
    set(name, number: "\(date.rawValue).\(Self.fraction(of: date))")
  }

  private static func fraction(of date: Milliseconds) -> String {
    // 1 to 9,973: no date is whole.
    let tenThousandths = date.rawValue % 9_973 + 1
    var digits = String(tenThousandths)
    digits = String(repeating: "0", count: 4 - digits.count) + digits
    while digits.hasSuffix("0") { digits.removeLast() }
    return digits
  }
}
