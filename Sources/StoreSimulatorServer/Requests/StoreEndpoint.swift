import EntitlementDomain

/// The endpoints of the App Store Server API that are served.
enum StoreEndpoint: String, CaseIterable, Sendable {
  case transactionInfo
  case history
  case historyVersion1
  case statuses
  case refundHistory
  case refundHistoryVersion1
  case orderLookup
  case appTransaction
  case finish
  case setToken
  case consumption
  case consumptionVersion1
  case extend
  case massExtend
  case massExtendStatus
  case testNotification
  case testNotificationStatus
  case notificationHistory

  /// The method, and what follows `/inApps/`; `*` stands for a parameter. The first that fits counts.
  private static let routes: [(method: String, path: [Substring], endpoint: StoreEndpoint)] = [
    ("GET", "v1/transactions/appTransactions/*", .appTransaction),
    ("GET", "v1/transactions/*", .transactionInfo),
    ("GET", "v2/history/*", .history),
    ("GET", "v1/history/*", .historyVersion1),
    ("GET", "v1/subscriptions/*", .statuses),
    ("GET", "v2/refund/lookup/*", .refundHistory),
    ("GET", "v1/refund/lookup/*", .refundHistoryVersion1),
    ("GET", "v1/lookup/*", .orderLookup),
    ("POST", "v1/transactions/*/finish", .finish),
    ("PUT", "v1/transactions/*/appAccountToken", .setToken),
    ("PUT", "v2/transactions/consumption/*", .consumption),
    ("PUT", "v1/transactions/consumption/*", .consumptionVersion1),
    ("POST", "v1/subscriptions/extend/mass", .massExtend),
    ("GET", "v1/subscriptions/extend/mass/*/*", .massExtendStatus),
    ("PUT", "v1/subscriptions/extend/*", .extend),
    ("POST", "v1/notifications/test", .testNotification),
    ("GET", "v1/notifications/test/*", .testNotificationStatus),
    ("POST", "v1/notifications/history", .notificationHistory),
  ].map { ($0, $1.split(separator: "/"), $2) }

  /// The endpoint of a request, and its parameters in the path; nil when there is none.
  ///
  /// - Parameter path: what follows `/inApps`.
  static func find(_ method: String, _ path: ArraySlice<String>) -> (StoreEndpoint, [String])? {
    for route in routes where route.method == method && route.path.count == path.count {
      let parts = zip(route.path, path)
      guard parts.allSatisfy({ $0 == "*" || $0 == $1 }) else { continue }
      return (route.endpoint, parts.filter { $0.0 == "*" }.map(\.1))
    }
    return nil
  }

  /// Requests in a second that Apple allows in Production
  /// (https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits). There is
  /// no published rate for the status of a mass extension.
  var requestsPerSecond: Double {
    switch self {
    case .transactionInfo, .history, .historyVersion1, .statuses, .appTransaction, .finish,
      .consumption, .consumptionVersion1, .massExtendStatus, .notificationHistory:
      50
    case .setToken, .extend: 20
    case .refundHistory, .refundHistoryVersion1, .orderLookup: 10
    case .massExtend, .testNotification, .testNotificationStatus: 1
    }
  }
}

/// How many requests each endpoint takes. Apple states rates for a second and enforces them by the
/// hour: so many requests are served in each hour, and then none.
struct StoreRateLimits: Sendable {
  private static let hour: Int64 = 3_600_000

  private let factor: Double
  private var hours: [StoreEndpoint: (began: Int64, count: Int)] = [:]

  /// - Parameter factor: of Apple's rates in Production; the Sandbox has a tenth of them.
  init(environment: StoreEnvironment, factor: Double) {
    self.factor = environment == .sandbox ? factor / 10 : factor
  }

  /// Counts a request.
  ///
  /// - Parameter now: real time.
  /// - Returns: nil when it may be served, else the time of the next hour, as in `Retry-After`.
  mutating func take(_ endpoint: StoreEndpoint, now: Milliseconds) -> Milliseconds? {
    let began = now.rawValue - now.rawValue % Self.hour
    var hour = hours[endpoint] ?? (began, 0)
    if hour.began != began { hour = (began, 0) }
    let limit = max(1, Int((endpoint.requestsPerSecond * 3_600 * factor).rounded()))
    guard hour.count < limit else { return Milliseconds(began + Self.hour) }
    hour.count += 1
    hours[endpoint] = hour
    return nil
  }
}
