import CEntitleMessages
import EntitlementDomain

extension StoreEnvironment {
  var message: Entitle__V1__StoreEnvironment {
    switch self {
    case .production: ENTITLE__V1__STORE_ENVIRONMENT__STORE_ENVIRONMENT_PRODUCTION
    case .sandbox: ENTITLE__V1__STORE_ENVIRONMENT__STORE_ENVIRONMENT_SANDBOX
    case .xcode: ENTITLE__V1__STORE_ENVIRONMENT__STORE_ENVIRONMENT_XCODE
    case .localTesting: ENTITLE__V1__STORE_ENVIRONMENT__STORE_ENVIRONMENT_LOCAL_TESTING
    }
  }

  /// Unspecified is production (R9); nil when the number is not known.
  init?(_ message: Entitle__V1__StoreEnvironment) {
    switch message {
    case ENTITLE__V1__STORE_ENVIRONMENT__STORE_ENVIRONMENT_UNSPECIFIED,
      ENTITLE__V1__STORE_ENVIRONMENT__STORE_ENVIRONMENT_PRODUCTION:
      self = .production
    case ENTITLE__V1__STORE_ENVIRONMENT__STORE_ENVIRONMENT_SANDBOX: self = .sandbox
    case ENTITLE__V1__STORE_ENVIRONMENT__STORE_ENVIRONMENT_XCODE: self = .xcode
    case ENTITLE__V1__STORE_ENVIRONMENT__STORE_ENVIRONMENT_LOCAL_TESTING: self = .localTesting
    default: return nil
    }
  }
}

extension MappedMessage {
  /// The app and environment that a message names, both needed.
  static func scope(
    bundleID: CText?, environment: Entitle__V1__StoreEnvironment
  ) throws(MessageError) -> AppScope {
    guard let environment = StoreEnvironment(environment) else {
      throw error(.unknownValue(field: "environment"))
    }
    return AppScope(bundleID: try required(bundleID, "bundle_id"), environment: environment)
  }
}
