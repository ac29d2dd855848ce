package import EntitlementDomain

extension ConsumptionInformation {
  func body() throws(AppStoreServerError) -> [UInt8] {
    guard customerConsented else { throw .invalidRequest("the customer has not consented") }
    if let percentage = consumptionPercentage {
      guard (0...100_000).contains(percentage) else {
        throw .invalidRequest("consumptionPercentage is not 0 to 100000")
      }
      guard percentage == 0 || deliveryStatus == .delivered else {
        throw .invalidRequest("consumptionPercentage of what was not delivered is not 0")
      }
      guard refundPreference != .grantProrated || (1..<100_000).contains(percentage) else {
        throw .invalidRequest("GRANT_PRORATED needs a consumptionPercentage between 0 and 100000")
      }
    }
    return RequestValue.object([
      "customerConsented": .boolean(true),
      "sampleContentProvided": .boolean(sampleContentProvided),
      "deliveryStatus": .text(deliveryStatus.rawValue),
      "refundPreference": refundPreference.map { .text($0.rawValue) },
      "consumptionPercentage": consumptionPercentage.map { .integer($0) },
    ])
  }
}

/// As ``ConsumptionInformation``, for purchases of Advanced Commerce (v1). The numbers are those of
/// Apple's page; 0 means undeclared, except in ``deliveryStatus``, where 0 is delivered.
package struct LegacyConsumptionInformation: Hashable, Sendable {
  /// 0 to 7.
  package var accountTenure: Int64 = 0
  /// The customer's token; nil for none.
  package var appAccountToken: AppAccountToken?
  /// 0 to 3.
  package var consumptionStatus: Int64 = 0
  /// Whether the customer consented. Without consent nothing may be sent.
  package var customerConsented: Bool
  /// 0 to 5.
  package var deliveryStatus: Int64
  /// 0 to 7.
  package var lifetimeDollarsPurchased: Int64 = 0
  /// 0 to 7.
  package var lifetimeDollarsRefunded: Int64 = 0
  /// 0 to 2.
  package var platform: Int64 = 0
  /// 0 to 7.
  package var playTime: Int64 = 0
  package var sampleContentProvided: Bool
  /// 0 to 4.
  package var userStatus: Int64 = 0
  /// 0 to 3.
  package var refundPreference: Int64?

  package init(customerConsented: Bool, sampleContentProvided: Bool, deliveryStatus: Int64) {
    self.customerConsented = customerConsented
    self.sampleContentProvided = sampleContentProvided
    self.deliveryStatus = deliveryStatus
  }

  func body() throws(AppStoreServerError) -> [UInt8] {
    guard customerConsented else { throw .invalidRequest("the customer has not consented") }
    let ranges: [(String, Int64, ClosedRange<Int64>)] = [
      ("accountTenure", accountTenure, 0...7), ("consumptionStatus", consumptionStatus, 0...3),
      ("deliveryStatus", deliveryStatus, 0...5),
      ("lifetimeDollarsPurchased", lifetimeDollarsPurchased, 0...7),
      ("lifetimeDollarsRefunded", lifetimeDollarsRefunded, 0...7), ("platform", platform, 0...2),
      ("playTime", playTime, 0...7), ("userStatus", userStatus, 0...4),
      ("refundPreference", refundPreference ?? 0, 0...3),
    ]
    for (name, value, range) in ranges where !range.contains(value) {
      throw .invalidRequest("\(name) is not \(range.lowerBound) to \(range.upperBound)")
    }
    return RequestValue.object([
      "accountTenure": .integer(accountTenure),
      "appAccountToken": .text(appAccountToken?.rawValue ?? ""),
      "consumptionStatus": .integer(consumptionStatus), "customerConsented": .boolean(true),
      "deliveryStatus": .integer(deliveryStatus),
      "lifetimeDollarsPurchased": .integer(lifetimeDollarsPurchased),
      "lifetimeDollarsRefunded": .integer(lifetimeDollarsRefunded),
      "platform": .integer(platform), "playTime": .integer(playTime),
      "sampleContentProvided": .boolean(sampleContentProvided),
      "userStatus": .integer(userStatus),
      "refundPreference": refundPreference.map { .integer($0) },
    ])
  }
}
