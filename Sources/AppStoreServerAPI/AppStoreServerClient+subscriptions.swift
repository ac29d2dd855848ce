import AppStorePayloads
package import EntitlementDomain
package import NIOCore
import NIOHTTP1

// The endpoints about subscriptions. Each throws ``AppStoreServerError``.

extension AppStoreServerClient {
  /// Get All Subscription Statuses: the latest transaction and renewal info of each auto-renewable
  /// subscription of a customer.
  ///
  /// - Parameter statuses: only these; all if it is empty.
  package func subscriptionStatuses(
    of id: Identifier<some StoreTransactionKind>, in app: AppScope,
    only statuses: [SubscriptionStatus] = [], deadline: NIODeadline
  ) async throws(AppStoreServerError) -> SubscriptionStatuses {
    let request = try AppStoreServerRequest(
      .subscriptionStatuses, .GET, "v1/subscriptions/{transactionId}",
      ["transactionId": id.rawValue], query: statuses.map { ("status", String($0.rawValue)) })
    return try await call(request, in: app, deadline: deadline) {
      (fields) throws(PayloadError) in try SubscriptionStatuses(fields)
    }
  }

  /// Extend a Subscription Renewal Date: twice in 365 days, irreversibly, family members included.
  ///
  /// It is not repeated when it is not known whether Apple has received the request: the error has
  /// ``AppStoreServerError/mayHaveTakenEffect`` then. The statuses show the renewal date.
  package func extendRenewal(
    of id: OriginalTransactionID, by renewalExtension: RenewalExtension, in app: AppScope,
    deadline: NIODeadline
  ) async throws(AppStoreServerError) -> RenewalExtensionResult {
    try renewalExtension.check()
    let request = try AppStoreServerRequest(
      .extendRenewal, .PUT, "v1/subscriptions/extend/{originalTransactionId}",
      ["originalTransactionId": id.rawValue],
      body: RequestValue.object([
        "extendByDays": .integer(renewalExtension.days),
        "extendReasonCode": .integer(renewalExtension.reason.rawValue),
        "requestIdentifier": .text(renewalExtension.requestIdentifier),
      ]))
    return try await call(request, in: app, deadline: deadline) {
      (fields) throws(PayloadError) in try RenewalExtensionResult(fields)
    }
  }

  /// Extend Subscription Renewal Dates for All Active Subscribers of a product, which takes hours or
  /// days.
  ///
  /// - Returns: the request identifier, for ``massExtensionStatus(of:product:in:deadline:)``.
  package func extendRenewals(
    _ mass: MassRenewalExtension, in app: AppScope, deadline: NIODeadline
  ) async throws(AppStoreServerError) -> String {
    try mass.check()
    let codes = mass.storefrontCountryCodes
    let request = try AppStoreServerRequest(
      .massExtension, .POST, "v1/subscriptions/extend/mass",
      body: RequestValue.object([
        "extendByDays": .integer(mass.renewalExtension.days),
        "extendReasonCode": .integer(mass.renewalExtension.reason.rawValue),
        "requestIdentifier": .text(mass.renewalExtension.requestIdentifier),
        "storefrontCountryCodes": codes.isEmpty ? nil : .texts(codes),
        "productId": .text(mass.productID.rawValue),
      ]))
    return try await call(request, in: app, deadline: deadline) { (fields) throws(PayloadError) in
      try fields.requiredIdentifier("requestIdentifier")
    }
  }

  /// Get Status of Subscription Renewal Date Extensions.
  package func massExtensionStatus(
    of requestIdentifier: String, product: ProductID, in app: AppScope, deadline: NIODeadline
  ) async throws(AppStoreServerError) -> MassExtensionStatus {
    let request = try AppStoreServerRequest(
      .massExtensionStatus, .GET,
      "v1/subscriptions/extend/mass/{productId}/{requestIdentifier}",
      ["productId": product.rawValue, "requestIdentifier": requestIdentifier])
    return try await call(request, in: app, deadline: deadline) {
      (fields) throws(PayloadError) in try MassExtensionStatus(fields)
    }
  }

  /// Runs a call in Production, and in Sandbox if Production does not know the id (4040010) or
  /// refuses the app (401: it has no release yet). App Review and TestFlight buy in Sandbox.
  ///
  /// - Returns: the first answer with its app and environment; nil if no environment has the id.
  ///   Nothing is unlocked on an absence: Apple reports it for new ids too.
  /// - Throws: the error of Production unless it is one of those, else the error of Sandbox.
  package func inEitherEnvironment<Value: Sendable>(
    of app: BundleID,
    _ call: (_ app: AppScope) async throws(AppStoreServerError) -> Value
  ) async throws(AppStoreServerError) -> (app: AppScope, value: Value)? {
    let production = AppScope(bundleID: app, environment: .production)
    do throws(AppStoreServerError) {
      return (production, try await call(production))
    } catch {
      guard error.isAbsence || error.code == .unauthorized else { throw error }
    }
    let sandbox = AppScope(bundleID: app, environment: .sandbox)
    do throws(AppStoreServerError) {
      return (sandbox, try await call(sandbox))
    } catch {
      guard error.isAbsence else { throw error }
      return nil
    }
  }
}

extension AppStoreServerError {
  fileprivate var isAbsence: Bool { errorCode == .transactionIDNotFound }
}
