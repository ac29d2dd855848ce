import AppStorePayloads
import EntitlementDomain
import JSON
import TestSupport
import Testing

/// Xcode and LocalTesting sign dates with fractions of a millisecond; the App Store never does.
@Suite("R4: dates with a fraction of a millisecond")
struct DateFormTests {
  private static let digest = PayloadDigest(words: (1, 2))
  private static let maximum = "9223372036854775807"
  private static let minimum = "-9223372036854775808"

  private func fact(_ kind: FactKind, _ payload: Payload) throws -> Fact {
    try PayloadDecoder.fact(
      kind: kind, payload: payload.bytes, digest: Self.digest, bundleID: "com.example.bound")
  }

  private func code(_ kind: FactKind, _ payload: Payload) -> PayloadError.Code? {
    do {
      _ = try fact(kind, payload)
      return nil
    } catch {
      return (error as? PayloadError)?.code
    }
  }

  /// A payload of each kind with fractions in every date.
  private static func payloads(_ environment: String) -> [(FactKind, Payload, [String])] {
    let name = "\"\(environment)\""
    let transactionDates = [
      "purchaseDate", "originalPurchaseDate", "expiresDate", "signedDate", "revocationDate",
    ]
    let renewalDates = [
      "signedDate", "gracePeriodExpiresDate", "renewalDate", "recentSubscriptionStartDate",
    ]
    let appDates = ["receiptCreationDate", "originalPurchaseDate", "preorderDate"]
    let samples: [(FactKind, Payload, [String])] = [
      (.transaction, Payload.transaction().with("environment", name), transactionDates),
      (.renewalInfo, Payload.renewalInfo().with("environment", name), renewalDates),
      (.appTransaction, Payload.appTransaction().with("receiptType", name), appDates),
    ]
    return samples.map { kind, payload, dates in
      (kind, dates.reduce(payload) { $0.with($1, "1697679936056.485") }, dates)
    }
  }

  @Test(arguments: ["Xcode", "LocalTesting"])
  func `Xcode and LocalTesting: rounded down in every date of every kind`(
    environment: String
  ) throws {
    for (kind, payload, dates) in Self.payloads(environment) {
      let whole = dates.reduce(payload) { $0.with($1, "1697679936056") }
      #expect(try fact(kind, payload) == fact(kind, whole))
      guard case .transaction(let transaction) = try fact(kind, payload) else { continue }
      #expect(transaction.signedDate == 1_697_679_936_056)
    }
    let commitment = Payload.transaction().with("environment", "\"\(environment)\"").with(
      "commitmentInfo",
      #"{"billingPeriodNumber":3,"totalBillingPeriods":12,"commitmentExpiresDate":99.75}"#)
    guard case .transaction(let committed) = try fact(.transaction, commitment) else { return }
    #expect(committed.commitment?.expiresDate == 99)
  }

  @Test(arguments: ["Production", "Sandbox"])
  func `Production and Sandbox: refused in every date of every kind`(environment: String) throws {
    for (kind, payload, dates) in Self.payloads(environment) {
      for date in dates {
        let others = dates.filter { $0 != date }.reduce(payload) { $0.with($1, "1697679936056") }
        #expect(code(kind, others) == .notAnInteger, "\(date)")
        #expect(code(kind, others.with(date, "1697679936056")) == nil)
      }
    }
    let commitment = Payload.transaction().with("environment", "\"\(environment)\"").with(
      "commitmentInfo",
      #"{"billingPeriodNumber":3,"totalBillingPeriods":12,"commitmentExpiresDate":99.0}"#)
    #expect(code(.transaction, commitment) == .notAnInteger)
  }

  @Test(arguments: ["Xcode", "LocalTesting", "Production", "Sandbox"])
  func `a date may be text in Xcode and LocalTesting alone`(environment: String) throws {
    let texts = ["2020-10-16T14:29:30+0300", "2020-10-16T11:29:30.0Z", "2020-10-16T13:29:30+02:00"]
    for (kind, payload, dates) in Self.payloads(environment) {
      let whole = dates.reduce(payload) { $0.with($1, "1602847770000") }
      for text in texts {
        let written = dates.reduce(payload) { $0.with($1, "\"\(text)\"") }
        if ["Xcode", "LocalTesting"].contains(environment) {
          #expect(try fact(kind, written) == fact(kind, whole), "\(text)")
        } else {
          #expect(code(kind, written) == .wrongType, "\(text)")
        }
      }
      // No other text is a date, wherever it is signed.
      for text in ["", "2020-10-16 14:29:30 +0300", "Oct 16, 2020", "1602847770000"] {
        #expect(code(kind, whole.with(dates[0], "\"\(text)\"")) == .wrongType, "\(text)")
      }
    }
  }

  @Test func `only the field that names the environment of the kind decides`() {
    let transaction = Payload.transaction().with("expiresDate", "1.5")
    #expect(code(.transaction, transaction.with("receiptType", #""Xcode""#)) == .notAnInteger)
    for environment in [#""xcode""#, #""Xcode ""#, #""XCODE""#] {
      #expect(code(.transaction, transaction.with("environment", environment)) != nil)
    }
    let app = Payload.appTransaction().with("preorderDate", "1.5")
    #expect(code(.appTransaction, app.with("environment", #""Xcode""#)) == .notAnInteger)
    // An escape is another spelling of the same text.
    #expect(code(.transaction, transaction.with("environment", #""\u0058code""#)) == nil)
  }

  @Test func `what is no date stays an integer, also in Xcode`() {
    for (field, json) in [
      ("quantity", "1.0"), ("offerType", "1.5"), ("revocationReason", "1e0"),
    ] {
      let payload = Payload.transaction().with("environment", #""Xcode""#).with(field, json)
      #expect(code(.transaction, payload) == .notAnInteger, "\(field)")
    }
    for json in [#""1.5""#, "true", "[]"] {
      let payload = Payload.transaction().with("environment", #""Xcode""#)
        .with("signedDate", json)
      #expect(code(.transaction, payload) == .wrongType)
    }
  }

  @Test(
    arguments: [
      ("0", 0), ("-0", 0), ("0.0", 0), ("-0.0", 0), ("0.999", 0), ("-0.001", -1), ("1.5", 1),
      ("-1.5", -2), ("-1.0", -1), ("-62135769600000", -62_135_769_600_000),
      ("-62135769600000.25", -62_135_769_600_001), ("1e3", 1_000), ("1E+3", 1_000), ("1e-3", 0),
      ("-1e-3", -1), ("1.5e1", 15), ("1.55e1", 15), ("-1.55e1", -16), ("0.0001e5", 10),
      ("0.00015e4", 1), ("12345e-2", 123), ("-12345e-2", -124), ("-12300e-2", -123),
      (maximum, Int64.max), (minimum, .min), (maximum + ".9999", .max), (minimum + ".0", .min),
      ("9.223372036854775807e18", .max), ("-9.223372036854775808e18", .min),
      ("9223372036854775807000e-3", .max), ("0e999999999999999999999", 0),
      ("0.000e999999999999999999999", 0), ("1e-999999999999999999999", 0),
      ("-1e-999999999999999999999", -1), (minimum + ".5", nil), ("9223372036854775808", nil),
      ("-9223372036854775809", nil), ("9223372036854775807.5e1", nil), ("1e19", nil),
      ("-1e19", nil), ("1e400", nil), ("1e999999999999999999999", nil),
    ] as [(String, Int64?)])
  func `each number has one floor, without floating point`(text: String, expected: Int64?) throws {
    #expect(JSONNumber.floor(Array(text.utf8)[...]) == expected)
    let payload = Payload.transaction().with("environment", #""Xcode""#).with("expiresDate", text)
    guard let expected else {
      #expect(code(.transaction, payload) == .outOfRange)
      return
    }
    guard case .transaction(let fact) = try fact(.transaction, payload) else { return }
    #expect(fact.expiresDate == Milliseconds(expected))
  }

  @Test func `random numbers agree with arithmetic on their digits`() {
    var random = SeededRandom(for: "random numbers agree with arithmetic on their digits")
    for _ in Rounds(20_000, of: "floors of random numbers") {
      let digits = (0..<Int.random(in: 1...24, using: &random)).map { _ in
        UInt8.random(in: 0...9, using: &random)
      }
      let point = Int.random(in: 1...digits.count, using: &random)
      let exponent = Int.random(in: -26...26, using: &random)
      let isNegative = Bool.random(using: &random)
      let mantissa = digits.map { String($0) }
      // JSON allows no superfluous zero at the start; the conversion does not mind.
      var text = (isNegative ? "-" : "") + mantissa[..<point].joined()
      if point < digits.count { text += "." + mantissa[point...].joined() }
      if exponent != 0 { text += "e\(exponent)" }
      #expect(
        JSONNumber.floor(Array(text.utf8)[...])
          == Self.floor(digits, point: point + exponent, isNegative: isNegative), "\(text)")
    }
  }

  /// By text: moves the point, then cuts there.
  private static func floor(_ digits: [UInt8], point: Int, isNegative: Bool) -> Int64? {
    let whole =
      digits.prefix(max(0, point)) + Array(repeating: 0, count: max(0, point - digits.count))
    let hasFraction = digits.dropFirst(max(0, point)).contains { $0 != 0 }
    let text = whole.map { String($0) }.joined()
    guard let value = text.isEmpty ? 0 : Int64((isNegative ? "-" : "") + text) else { return nil }
    guard isNegative, hasFraction else { return value }
    return value == .min ? nil : value - 1
  }

  @Test func `a number of a million digits is read in one pass`() {
    let zeros = String(repeating: "0", count: 1_000_000)
    let numbers: [(String, Int64?)] = [
      ("0." + zeros + "1", 0), ("-0." + zeros + "1", -1), ("1" + zeros, nil),
      ("1" + zeros + "e-1000000", 1), ("0." + zeros + "1e1000003", 100), ("7." + zeros, 7),
      ("7e" + zeros + "1", 70), ("7e-" + zeros + "1", 0),
    ]
    for (text, expected) in numbers {
      #expect(JSONNumber.floor(Array(text.utf8)[...]) == expected, "\(text.prefix(8))")
    }
  }
}
