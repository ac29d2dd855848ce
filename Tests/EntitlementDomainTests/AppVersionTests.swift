import EntitlementDomain
import TestSupport
import Testing

@Suite("R34: versions of apps")
struct AppVersionTests {
  static let ascending: [(String, String)] = [
    ("9", "10"), ("0.9", "0.10"), ("1", "1.0.1"), ("1.9.9", "2"), ("2.0", "2.0.0.1"),
    ("0", "0.0.1"), ("99", "100"), ("1.2.3", "1.2.4"), ("1.2", "1.10"), ("20", "108"),
    ("9999999999999999999999999999999999999998", "9999999999999999999999999999999999999999"),
    ("9999999999999999999999999999999999999999", "10000000000000000000000000000000000000000"),
    ("1.9999999999999999999999999999999999999999", "2"),
  ]

  @Test("Components are compared as integers of any length", arguments: ascending)
  func less(left: String, right: String) throws {
    let (left, right) = (try #require(AppVersion(left)), try #require(AppVersion(right)))
    #expect(left < right)
    #expect(!(right < left))
    #expect(left != right)
  }

  static let same: [(String, String, String)] = [
    ("1.0", "1", "1"), ("1.0.0.0", "1", "1"), ("007.10.0", "7.10", "7.10"), ("0", "0.0", "0"),
    ("00", "0", "0"), ("2.0.1", "2.00.01", "2.0.1"), ("0.0.5", "0.0.5.0", "0.0.5"),
  ]

  @Test("Missing components are 0, and leading zeros are ignored", arguments: same)
  func equal(left: String, right: String, written: String) throws {
    let (left, right) = (try #require(AppVersion(left)), try #require(AppVersion(right)))
    #expect(left == right)
    #expect(left.hashValue == right.hashValue)
    #expect(!(left < right))
    #expect(!(right < left))
    #expect(left.description == written)
  }

  @Test(
    "Text that is not whole numbers separated by dots is refused",
    arguments: [
      "", ".", "1.", ".1", "1..2", "1.2b3", "v2", " 1", "1 ", "-1", "+1", "1,2", "١", "1.０",
      "1\u{0}", String(repeating: "1", count: 1_025), String(repeating: "1.", count: 512) + "1",
    ])
  func unreadable(text: String) {
    #expect(AppVersion(text) == nil)
  }

  @Test(
    "The leading component is a version of its own",
    arguments: [("108.2.7", "108"), ("0.5", "0"), ("7", "7"), ("0", "0"), ("010.1", "10")])
  func leading(text: String, expected: String) throws {
    #expect(try #require(AppVersion(text)).leadingComponent == AppVersion(expected))
  }

  @Test("The order agrees with that of lists of integers")
  func totalOrder() throws {
    var random = SeededRandom(for: "app versions")
    for _ in 0..<2_000 {
      func numbers() -> [Int] {
        (0..<Int.random(in: 1...4, using: &random)).map { _ in
          Int.random(in: 0...Int.random(in: 0...120, using: &random), using: &random)
        }
      }
      func version(_ numbers: [Int]) throws -> AppVersion {
        try #require(AppVersion(numbers.map(String.init).joined(separator: ".")))
      }
      let (left, right) = (numbers(), numbers())
      let length = max(left.count, right.count)
      func padded(_ numbers: [Int]) -> [Int] {
        numbers + Array(repeating: 0, count: length - numbers.count)
      }
      let isLess = padded(left).lexicographicallyPrecedes(padded(right))
      #expect(try (version(left) < version(right)) == isLess, "\(left) \(right)")
      #expect(
        try (version(left) == version(right)) == (padded(left) == padded(right)),
        "\(left) \(right)")
    }
  }
}
