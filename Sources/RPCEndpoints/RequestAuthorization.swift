import AccessControl
import EntitlementDomain
import EntitlementStore
import Framing
import RPCServer
import Wire

/// What a request is about, and what it costs its caller. Every request has both: an endpoint can
/// decode no other.
protocol AuthorizedRequest: WireMessage {
  /// Compared with the caller's scope before any access to the store.
  var requestedScope: RequestedScope { get }
  var cost: CallCost { get }
}

/// The apps and environments that a request is about.
enum RequestedScope {
  case app(AppScope)
  /// A signature for the app. It names no environment, and so is valid in Production whatever the
  /// request says: the caller must have both.
  case signature(AppScope)
  /// What Apple signed names them: each item is compared before the commit. If the request names an
  /// app, the caller must have some environment of it.
  case signed(BundleID?)
  /// All apps, also those that the catalog will name later.
  case everything
  /// None: the server or the caller itself.
  case nothing
}

extension RPCCall {
  /// Decodes the request, and checks and charges its caller.
  ///
  /// - Throws: `MessageError` and `RPCStatus`.
  func authorizedRequest<Request: AuthorizedRequest>(_ type: Request.Type) throws -> Request {
    let request = try Request.decode(from: payload)
    let scopes = identity.caller.scopes
    let isPermitted =
      switch request.requestedScope {
      case .nothing: true
      case .everything: scopes.isUnlimited
      case .app(let scope): scopes.contains(scope)
      case .signature(let scope):
        scopes.contains(scope)
          && scopes.contains(AppScope(bundleID: scope.bundleID, environment: .production))
      case .signed(let app): app.map { scopes.contains($0) } ?? true
      }
    guard isPermitted else {
      throw refusal(.scope, details: request.requestedScope.details(lackingIn: scopes))
    }
    try charge(request.cost)
    return request
  }
}

extension RPCCall {
  /// Whether the caller may submit for an app and environment.
  var permits: @Sendable (AppScope) -> Bool {
    { [scopes = identity.caller.scopes] in scopes.contains($0) }
  }
}

extension RequestedScope {
  /// For `ErrorInfo` and the log.
  fileprivate func details(lackingIn scopes: AppScopes) -> [String: String] {
    switch self {
    case .app(let scope):
      ["app": scope.bundleID.rawValue, "environment": scope.environment.rawValue]
    case .signature(let scope):
      [
        "app": scope.bundleID.rawValue,
        "environment": scopes.contains(scope) ? "Production" : scope.environment.rawValue,
      ]
    case .signed(let app): app.map { ["app": $0.rawValue] } ?? [:]
    case .everything: ["app": "*"]
    case .nothing: [:]
    }
  }
}

/// The cost of a read, which is higher for another moment: nothing is cached for it.
private func readCost(_ count: Int = 1, at moment: Milliseconds?) -> CallCost {
  moment == nil ? .reads(count) : .expensiveRead
}

// MARK: EntitlementService

extension GetCustomerStateRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  /// One that may fetch costs more, whether it does or not: nobody gets fetches for the price of reads.
  var cost: CallCost { fetchesIfUnknown ? .expensiveRead : readCost(at: at) }
}

extension BatchGetCustomerStateRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { readCost(customers.count, at: at) }
}

extension CheckEntitlementRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { readCost(at: at) }
}

extension ExplainCustomerStateRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .expensiveRead }
}

extension WatchCustomerStatesRequest: AuthorizedRequest {
  var requestedScope: RequestedScope {
    guard let bundleID, let environment else { return .everything }
    return .app(AppScope(bundleID: bundleID, environment: environment))
  }
  var cost: CallCost { .reads(1) }
}

extension ListCustomersRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .reads(effectivePageSize) }
}

// MARK: SubmissionService

extension SubmitSignedTransactionsRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .signed(bundleID) }
  var cost: CallCost { .submissions(signedPayloads.count) }
}

extension SubmitNotificationRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .signed(nil) }
  var cost: CallCost { .submissions(1) }
}

extension SubmitReceiptRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .signed(bundleID) }
  var cost: CallCost { .submissions(1) }
}

// MARK: LinkService

extension ResolveAccountRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .reads(1) }
}

extension LinkAccountRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .none }
}

extension UnlinkAccountRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .none }
}

extension TransferPurchaseRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .none }
}

extension MergeAccountsRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .none }
}

extension ListLinksRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .reads(1) }
}

extension BindAccountTokenRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .none }
}

extension ListAccountTokensRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .reads(1) }
}

extension GetLinkHistoryRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .reads(1) }
}

// MARK: AdminService

extension AddGrantRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .none }
}

extension WithdrawGrantRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .none }
}

extension ListGrantsRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .reads(1) }
}

extension GetCatalogRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .nothing }
  var cost: CallCost { .none }
}

extension ReloadCatalogRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .everything }
  var cost: CallCost { .none }
}

extension ListChangesRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .everything }
  var cost: CallCost { .reads(effectivePageSize) }
}

extension ImportArchivedResponseRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .signed(bundleID) }
  var cost: CallCost { .submissions(1) }
}

extension GetCustomerHistoryRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .reads(1) }
}

extension ExportCustomerRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .expensiveRead }
}

extension DeleteCustomerRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .none }
}

extension ListUnlinkedChainsRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .reads(effectivePageSize) }
}

extension ListNotificationsRequest: AuthorizedRequest {
  var requestedScope: RequestedScope {
    guard let bundleID, let environment else { return .everything }
    return .app(AppScope(bundleID: bundleID, environment: environment))
  }
  /// With a filter, a page looks through more than it returns. A row costs a tenth of a read.
  var cost: CallCost {
    let isFiltered = bundleID != nil || environment != nil || notificationType != nil
    return .reads(
      max(effectivePageSize, isFiltered ? NotificationQuery.defaultScanLimit / 10 : 0))
  }
}

extension GetStatisticsRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .nothing }
  var cost: CallCost { .none }
}

extension GetServerRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .nothing }
  var cost: CallCost { .none }
}

// MARK: AuditService

extension ListAuditEntriesRequest: AuthorizedRequest {
  var requestedScope: RequestedScope {
    // An unknown environment is refused later, and is no app of a limited caller.
    guard let app, let environment = selectedEnvironment else { return .everything }
    return .app(AppScope(bundleID: BundleID(app), environment: environment))
  }
  var cost: CallCost { .reads(effectivePageSize) }
}

extension ListAuditSealsRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .everything }
  var cost: CallCost { .reads(effectivePageSize) }
}

// MARK: JobService

extension ListJobsRequest: AuthorizedRequest {
  var requestedScope: RequestedScope {
    // The app of a job is compared when it is found: one of another app is not.
    if jobID != nil { return .nothing }
    guard let bundleID, let environment else { return .everything }
    return .app(AppScope(bundleID: bundleID, environment: environment))
  }
  /// As for notifications: with a filter, a page looks through more than it returns.
  var cost: CallCost {
    if jobID != nil { return .reads(1) }
    let isFiltered =
      bundleID != nil || environment != nil || state != nil || kind != nil
      || originalTransactionID != nil
    return .reads(
      max(effectivePageSize, isFiltered ? Self.scanLimit / 10 : 0))
  }
}

extension RetryJobRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .nothing }
  var cost: CallCost { .none }
}

extension CancelJobRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .nothing }
  var cost: CallCost { .none }
}

extension ReconcileNotificationsRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .none }
}

// MARK: AppStoreService

/// The scope of a question that may be asked in two environments. The caller must have one of them, and
/// only those that it has are asked.
private func questionScope(_ scope: AppScope, orSandbox: Bool) -> RequestedScope {
  orSandbox && scope.environment == .production ? .signed(scope.bundleID) : .app(scope)
}

/// A call of Apple costs the server more than a read from its store.
private let appStoreCost = CallCost.expensiveRead

extension GetTransactionRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { questionScope(scope, orSandbox: orSandbox) }
  var cost: CallCost { appStoreCost }
}

extension ListTransactionsRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { questionScope(scope, orSandbox: orSandbox) }
  var cost: CallCost { appStoreCost }
}

extension GetSubscriptionStatusesRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { questionScope(scope, orSandbox: orSandbox) }
  var cost: CallCost { appStoreCost }
}

extension ListRefundsRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { questionScope(scope, orSandbox: orSandbox) }
  var cost: CallCost { appStoreCost }
}

extension LookUpOrderRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { appStoreCost }
}

extension GetAppTransactionRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { questionScope(scope, orSandbox: orSandbox) }
  var cost: CallCost { appStoreCost }
}

extension ListSentNotificationsRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { appStoreCost }
}

extension RequestTestNotificationRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { appStoreCost }
}

extension GetTestNotificationRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { appStoreCost }
}

extension ExtendRenewalRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { appStoreCost }
}

extension ExtendAllRenewalsRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { appStoreCost }
}

extension GetRenewalExtensionRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { appStoreCost }
}

extension SetAppAccountTokenRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { appStoreCost }
}

extension FinishTransactionRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { appStoreCost }
}

// MARK: ConsumptionService

extension SetConsumptionConsentRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .none }
}

extension GetConsumptionConsentRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .reads(1) }
}

extension SetConsumptionPercentageRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .none }
}

extension ListConsumptionRequestsRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  /// A page looks through those of all apps.
  var cost: CallCost {
    transactionID == nil ? .reads(max(effectivePageSize, Self.scanLimit / 10)) : .reads(1)
  }
}

extension SendConsumptionRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .none }
}

// MARK: OfferService

extension GetOfferEligibilityRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .app(scope) }
  var cost: CallCost { .expensiveRead }
}

extension SignPromotionalOfferRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .signature(scope) }
  var cost: CallCost { .expensiveRead }
}

extension SignIntroductoryOfferEligibilityRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .signature(scope) }
  var cost: CallCost { .expensiveRead }
}

// MARK: MigrationService

extension ImportAccountsRequest: AuthorizedRequest {
  /// The environments of its rows are compared one by one.
  var requestedScope: RequestedScope { .signed(bundleID) }
  var cost: CallCost { .submissions(rows.count) }
}

extension GetImportRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .signed(bundleID) }
  var cost: CallCost { .reads(1) }
}

extension ListImportsRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { bundleID.map { .signed($0) } ?? .everything }
  var cost: CallCost { .reads(effectivePageSize) }
}

extension ListImportRowsRequest: AuthorizedRequest {
  /// Rows are listed of the environments that the caller may use.
  var requestedScope: RequestedScope { .signed(bundleID) }
  var cost: CallCost { .reads(effectivePageSize) }
}

extension ChangeImportRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .signed(bundleID) }
  var cost: CallCost { .none }
}

// MARK: AccessService and Health

extension WhoAmIRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .nothing }
  var cost: CallCost { .none }
}

extension GetCredentialsRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .everything }
  var cost: CallCost { .none }
}

extension ReloadCredentialsRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .everything }
  var cost: CallCost { .none }
}

extension HealthCheckRequest: AuthorizedRequest {
  var requestedScope: RequestedScope { .nothing }
  var cost: CallCost { .none }
}
