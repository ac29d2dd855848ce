import AppStoreServerAPI
import EntitlementDomain
package import EntitlementService
import EntitlementStore
import Logging
import NIOCore
import Verification
package import Wire

// Changes at the App Store. Each has two entries in the audit trail: what is asked for, before it is
// asked for, and how that ended. The App Store makes the change in a transaction of its own, so one
// entry after it would be missing for a server that was killed in between, and one before it would not
// know the outcome.
extension AppStoreOperations {
  package func change(
    _ change: AppStoreChange, _ call: AppStoreCall
  ) async throws(ServiceError) -> AppStoreChangeResponse {
    try await limited(call) { (call) async throws(ServiceError) in
      let terms = change.terms
      try ChangeAudit(
        onBehalfOf: terms.onBehalfOf, reason: terms.reason ?? "", caller: call.caller
      ).checkJob()
      try JobRecords.check(reach(terms.scope.bundleID), reach: terms.scope)
      try change.checkArguments()
      if terms.isDryRun { return try await tried(change, call) }
      let account = try await account(of: change, in: terms.scope)
      func entry(_ outcome: AuditOutcome) -> AuditCall {
        AuditCall(
          method: terms.method, caller: call.caller, scope: terms.scope, account: account,
          onBehalfOf: terms.onBehalfOf, reason: terms.reason ?? "", subject: terms.subject,
          outcome: outcome, at: clock.now())
      }
      return try await drained { () async throws(ServiceError) in
        try await audited(change, until: deadline(of: call), entry)
      }
    }
  }

  /// Asks for a change, between its two entries in the audit trail.
  private func audited(
    _ change: AppStoreChange, until deadline: NIODeadline, _ entry: (AuditOutcome) -> AuditCall
  ) async throws(ServiceError) -> AppStoreChangeResponse {
    do throws(StoreError) {
      try await store.record(entry(.requested))
    } catch {
      throw ServiceError(error)
    }
    // Not a child task: what was begun goes on when the caller is gone, and its outcome comes into the
    // trail. A server that stops waits for that (``drain(within:)``).
    let asking = Task { () -> Result<AppStoreChangeResponse, AppStoreServerError> in
      do throws(AppStoreServerError) {
        return .success(try await self.ask(for: change, until: deadline))
      } catch {
        return .failure(error)
      }
    }
    let result = await asking.value
    let outcome: AuditOutcome =
      switch result {
      case .success: .changed
      case .failure(let error): error.mayHaveTakenEffect ? .unknown : .refused
      }
    await record(entry(outcome))
    do throws(AppStoreServerError) {
      return try result.get()
    } catch {
      throw ServiceError(error)
    }
  }

  /// Writes how a change ended. The deadline of the call does not bound it: it may be over. If it
  /// cannot be written, the first entry stands, and the log has the outcome.
  private func record(_ entry: AuditCall) async {
    let store = store
    let failure = await Task.detached { () -> StoreError? in
      do throws(StoreError) {
        try await store.record(entry)
        return nil
      } catch {
        return error
      }
    }.value
    guard let failure else { return }
    logger.error(
      "the outcome of a change at the App Store is not in the audit trail",
      metadata: [
        "method": "\(entry.method)", "subject": "\(entry.subject)",
        "outcome": "\(entry.outcome.rawValue)", "reason": "\(failure)",
      ])
  }

  private func ask(
    for change: AppStoreChange, until deadline: NIODeadline
  ) async throws(AppStoreServerError) -> AppStoreChangeResponse {
    switch change {
    case .testNotification(let request):
      let token = try await client.requestTestNotification(in: request.scope, deadline: deadline)
      return AppStoreChangeResponse(scope: request.scope, testNotificationToken: token)
    case .extendRenewal(let request):
      let result = try await client.extendRenewal(
        of: request.originalTransactionID, by: try request.extension(), in: request.scope,
        deadline: deadline)
      guard result.success else { throw .extensionFailed }
      return AppStoreChangeResponse(
        scope: request.scope, requestIdentifier: request.requestIdentifier,
        renewalDate: result.effectiveDate)
    case .extendAllRenewals(let request):
      let identifier = try await client.extendRenewals(
        try request.extension(), in: request.scope, deadline: deadline)
      return AppStoreChangeResponse(scope: request.scope, requestIdentifier: identifier)
    case .setToken(let request):
      try await client.setAppAccountToken(
        request.appAccountToken, of: request.originalTransactionID, in: request.scope,
        deadline: deadline)
      return AppStoreChangeResponse(scope: request.scope)
    case .finish(let request):
      try await client.finish(request.transactionID, in: request.scope, deadline: deadline)
      return AppStoreChangeResponse(scope: request.scope)
    }
  }

  /// The account that has the purchase, for the audit trail; nil if none is known.
  private func account(
    of change: AppStoreChange, in scope: AppScope
  ) async throws(ServiceError) -> AccountID? {
    guard let selector = change.selector else { return nil }
    do throws(StoreError) {
      return try await store.customer(selector, in: scope).record.accountID
    } catch {
      throw ServiceError(error)
    }
  }

  // MARK: Dry runs

  private func tried(
    _ change: AppStoreChange, _ call: AppStoreCall
  ) async throws(ServiceError) -> AppStoreChangeResponse {
    let terms = change.terms
    var response = AppStoreChangeResponse(
      scope: terms.scope, isDryRun: true, requestIdentifier: change.requestIdentifier)
    guard case .extendRenewal(let request) = change else { return response }
    let statuses = try await ask(in: request.scope, call) {
      (client, scope, deadline) async throws(AppStoreServerError) in
      try await client.subscriptionStatuses(
        of: request.originalTransactionID, in: scope, deadline: deadline)
    }
    let checked = try await checked(statuses, stores: false, in: request.scope, call)
    let subscription = checked.subscriptions.first {
      $0.originalTransactionID == request.originalTransactionID
    }
    response.subscriptionStatus = subscription?.status.flatMap {
      AppStoreStatus(rawValue: Int($0.rawValue))
    }
    response.renewalDate = subscription?.renewalDate
    response.obstacles = subscription?.obstacles ?? [.notASubscription]
    return response
  }
}

extension AppStoreServerError {
  /// The App Store answered, and said that it did not extend.
  fileprivate static var extensionFailed: AppStoreServerError {
    AppStoreServerError(refusing: "Apple answered that the renewal date was not extended")
  }
}

// MARK: What a status shows of an extension

extension CheckedStatuses.Subscription {
  fileprivate var verifiedTransaction: TransactionFact? {
    guard case .success(let payload) = transaction.result,
      case .transaction(let fact) = payload.content
    else { return nil }
    return fact
  }

  /// The next renewal, or else the end of the period.
  fileprivate var renewalDate: Milliseconds? {
    if case .success(let payload)? = renewalInfo?.result,
      case .renewalInfo(let info) = payload.content,
      let date = info.bound(to: BundleID("")).renewalDate
    {
      return date
    }
    return verifiedTransaction?.expiresDate
  }

  /// The conditions of Apple's page, Extend a Subscription Renewal Date, that do not hold.
  fileprivate var obstacles: [ExtensionObstacle] {
    var obstacles: [ExtensionObstacle] = []
    switch status {
    case .expired: obstacles.append(.expired)
    case .billingRetry: obstacles.append(.billingRetry)
    case .revoked: obstacles.append(.revoked)
    case .active, .grace, nil: break
    }
    guard let transaction = verifiedTransaction else { return obstacles }
    if transaction.offer?.discountType == .freeTrial { obstacles.append(.freeOffer) }
    if transaction.ownership == .familyShared { obstacles.append(.familyShared) }
    return obstacles
  }
}

// MARK: Requests

/// What all changes have.
private struct ChangeTerms {
  let scope: AppScope
  let method: String
  let isDryRun: Bool
  let onBehalfOf: String?
  let reason: String?
  /// Names the change in its two entries of the audit trail, by no id of Apple's (R77).
  let subject: String
}

extension AppStoreChange {
  fileprivate var terms: ChangeTerms {
    switch self {
    case .testNotification(let request):
      ChangeTerms(
        scope: request.scope, method: WireMethods.requestTestNotification.name,
        isDryRun: request.isDryRun, onBehalfOf: request.onBehalfOf, reason: request.reason,
        subject: Self.randomSubject)
    case .extendRenewal(let request):
      ChangeTerms(
        scope: request.scope, method: WireMethods.extendRenewal.name, isDryRun: request.isDryRun,
        onBehalfOf: request.onBehalfOf, reason: request.reason,
        subject: request.requestIdentifier)
    case .extendAllRenewals(let request):
      ChangeTerms(
        scope: request.scope, method: WireMethods.extendAllRenewals.name,
        isDryRun: request.isDryRun, onBehalfOf: request.onBehalfOf, reason: request.reason,
        subject: request.requestIdentifier)
    case .setToken(let request):
      ChangeTerms(
        scope: request.scope, method: WireMethods.setAppAccountToken.name,
        isDryRun: request.isDryRun, onBehalfOf: request.onBehalfOf, reason: request.reason,
        subject: Self.randomSubject)
    case .finish(let request):
      ChangeTerms(
        scope: request.scope, method: WireMethods.finishTransaction.name,
        isDryRun: request.isDryRun, onBehalfOf: request.onBehalfOf, reason: request.reason,
        subject: Self.randomSubject)
    }
  }

  private static var randomSubject: String {
    String(UInt64.random(in: .min ... .max), radix: 16)
  }

  fileprivate var requestIdentifier: String? {
    switch self {
    case .extendRenewal(let request): request.requestIdentifier
    case .extendAllRenewals(let request): request.requestIdentifier
    case .testNotification, .setToken, .finish: nil
    }
  }

  /// Finds the purchase; nil for a change of no single one.
  fileprivate var selector: CustomerSelector? {
    switch self {
    case .extendRenewal(let request): .originalTransaction(request.originalTransactionID)
    case .setToken(let request): .originalTransaction(request.originalTransactionID)
    case .finish(let request): .transaction(request.transactionID)
    case .testNotification, .extendAllRenewals: nil
    }
  }

  /// Checks what Apple documents of the arguments, also for a dry run.
  fileprivate func checkArguments() throws(ServiceError) {
    do throws(AppStoreServerError) {
      switch self {
      case .extendRenewal(let request): try request.extension().check()
      case .extendAllRenewals(let request):
        try request.extension().check()
        guard request.storefrontCountryCodes.allSatisfy(Self.isCountryCode) else {
          throw AppStoreServerError(invalid: "a storefront has a code of three capital letters")
        }
      case .setToken(let request):
        try AppStoreServerRequest.check(
          pathValue: request.originalTransactionID.rawValue, "originalTransactionId")
      case .finish(let request):
        try AppStoreServerRequest.check(
          pathValue: request.transactionID.rawValue, "transactionId")
      case .testNotification: break
      }
    } catch {
      throw ServiceError(error)
    }
  }

  private static func isCountryCode(_ code: String) -> Bool {
    code.utf8.count == 3 && code.utf8.allSatisfy { (0x41...0x5A).contains($0) }
  }
}

extension ExtendRenewalRequest {
  fileprivate func `extension`() throws(AppStoreServerError) -> RenewalExtension {
    try RenewalExtension(
      days: extendByDays, reasonCode: extendReasonCode, requestIdentifier: requestIdentifier)
  }
}

extension ExtendAllRenewalsRequest {
  fileprivate func `extension`() throws(AppStoreServerError) -> MassRenewalExtension {
    MassRenewalExtension(
      try RenewalExtension(
        days: extendByDays, reasonCode: extendReasonCode, requestIdentifier: requestIdentifier),
      of: productID, storefrontCountryCodes: storefrontCountryCodes)
  }
}

extension RenewalExtension {
  fileprivate init(
    days: Int, reasonCode: Int, requestIdentifier: String
  ) throws(AppStoreServerError) {
    guard let reason = ExtensionReason(rawValue: Int64(reasonCode)) else {
      throw AppStoreServerError(invalid: "extendReasonCode is not 0 to 3")
    }
    self.init(days: Int64(days), reason: reason, requestIdentifier: requestIdentifier)
  }
}
