import AppStorePayloads
package import EntitlementDomain
package import NIOCore
import NIOHTTP1

// The endpoints about transactions. Each throws ``AppStoreServerError``.

extension AppStoreServerClient {
  /// Get Transaction Info: one transaction of any type.
  ///
  /// - Returns: JWS, not verified.
  package func transaction(
    _ id: TransactionID, in app: AppScope, deadline: NIODeadline
  ) async throws(AppStoreServerError) -> String {
    let request = try AppStoreServerRequest(
      .transaction, .GET, "v1/transactions/{transactionId}", ["transactionId": id.rawValue])
    return try await call(request, in: app, deadline: deadline) { (fields) throws(PayloadError) in
      try fields.requiredIdentifier("signedTransactionInfo")
    }
  }

  /// Get Transaction History (v2): one page of the transactions of a customer, of all types, the
  /// oldest change first.
  ///
  /// - Parameter revision: of the former page, or a stored one; nil for the first page.
  package func history(
    of id: Identifier<some StoreTransactionKind>, in app: AppScope,
    matching query: HistoryQuery = HistoryQuery(), from revision: String? = nil,
    deadline: NIODeadline
  ) async throws(AppStoreServerError) -> HistoryPage {
    let request = try AppStoreServerRequest(
      .history, .GET, "v2/history/{transactionId}", ["transactionId": id.rawValue],
      query: query.items(revision: revision))
    let page = try await call(request, in: app, deadline: deadline) {
      (fields) throws(PayloadError) in try HistoryPage(fields)
    }
    return try advanced(page, from: revision)
  }

  /// The pages of ``history(of:in:matching:from:deadline:)``, all before one deadline.
  package func historyPages(
    of id: Identifier<some StoreTransactionKind>, in app: AppScope,
    matching query: HistoryQuery = HistoryQuery(), from revision: String? = nil,
    deadline: NIODeadline
  ) -> AppStorePages<HistoryPage> {
    AppStorePages(from: revision, limit: limits.pages) {
      (position) async throws(AppStoreServerError) in
      try await self.history(
        of: id, in: app, matching: query, from: position, deadline: deadline)
    }
  }

  /// Get Refund History (v2): one page of the refunds and revocations that the App Store approved.
  ///
  /// - Parameter revision: of the former page, or a stored one; nil for the first page.
  package func refunds(
    of id: Identifier<some StoreTransactionKind>, in app: AppScope, from revision: String? = nil,
    deadline: NIODeadline
  ) async throws(AppStoreServerError) -> RefundPage {
    let request = try AppStoreServerRequest(
      .refunds, .GET, "v2/refund/lookup/{transactionId}", ["transactionId": id.rawValue],
      query: [("revision", revision)])
    let page = try await call(request, in: app, deadline: deadline) {
      (fields) throws(PayloadError) in try RefundPage(fields)
    }
    return try advanced(page, from: revision)
  }

  /// The pages of ``refunds(of:in:from:deadline:)``, all before one deadline.
  package func refundPages(
    of id: Identifier<some StoreTransactionKind>, in app: AppScope, from revision: String? = nil,
    deadline: NIODeadline
  ) -> AppStorePages<RefundPage> {
    AppStorePages(from: revision, limit: limits.pages) {
      (position) async throws(AppStoreServerError) in
      try await self.refunds(of: id, in: app, from: position, deadline: deadline)
    }
  }

  /// Look Up Order ID: the purchases of an order, from a receipt that Apple mailed. Production only.
  package func order(
    _ orderID: String, of app: BundleID, deadline: NIODeadline
  ) async throws(AppStoreServerError) -> OrderLookup {
    let request = try AppStoreServerRequest(
      .order, .GET, "v1/lookup/{orderId}", ["orderId": orderID])
    return try await call(
      request, in: AppScope(bundleID: app, environment: .production), deadline: deadline
    ) { (fields) throws(PayloadError) in try OrderLookup(fields) }
  }

  /// Get App Transaction Info: a customer's download of the app.
  ///
  /// - Returns: JWS, not verified.
  package func appTransaction(
    of id: Identifier<some StoreTransactionKind>, in app: AppScope, deadline: NIODeadline
  ) async throws(AppStoreServerError) -> String {
    let request = try AppStoreServerRequest(
      .appTransaction, .GET, "v1/transactions/appTransactions/{transactionId}",
      ["transactionId": id.rawValue])
    return try await call(request, in: app, deadline: deadline) { (fields) throws(PayloadError) in
      try fields.requiredIdentifier("signedAppTransactionInfo")
    }
  }

  /// Finish Transaction: what was bought was delivered. Not needed if the app finishes it.
  package func finish(
    _ id: TransactionID, in app: AppScope, deadline: NIODeadline
  ) async throws(AppStoreServerError) {
    let request = try AppStoreServerRequest(
      .finish, .POST, "v1/transactions/{transactionId}/finish", ["transactionId": id.rawValue])
    try await call(request, in: app, deadline: deadline)
  }

  /// Set App Account Token: names the account of a purchase that was made without one.
  package func setAppAccountToken(
    _ token: AppAccountToken, of id: OriginalTransactionID, in app: AppScope,
    deadline: NIODeadline
  ) async throws(AppStoreServerError) {
    let request = try AppStoreServerRequest(
      .appAccountToken, .PUT, "v1/transactions/{originalTransactionId}/appAccountToken",
      ["originalTransactionId": id.rawValue],
      body: RequestValue.object(["appAccountToken": .text(token.rawValue)]))
    try await call(request, in: app, deadline: deadline)
  }

  /// Send Consumption Information (v2), within 12 hours of a CONSUMPTION_REQUEST.
  package func sendConsumption(
    _ information: ConsumptionInformation, of id: TransactionID, in app: AppScope,
    deadline: NIODeadline
  ) async throws(AppStoreServerError) {
    let request = try AppStoreServerRequest(
      .consumption, .PUT, "v2/transactions/consumption/{transactionId}",
      ["transactionId": id.rawValue], body: try information.body())
    try await call(request, in: app, deadline: deadline)
  }

  /// Send Consumption Information (v1), for purchases of Advanced Commerce.
  package func sendConsumption(
    _ information: LegacyConsumptionInformation, of id: TransactionID, in app: AppScope,
    deadline: NIODeadline
  ) async throws(AppStoreServerError) {
    let request = try AppStoreServerRequest(
      .legacyConsumption, .PUT, "v1/transactions/consumption/{transactionId}",
      ["transactionId": id.rawValue], body: try information.body())
    try await call(request, in: app, deadline: deadline)
  }

  /// A page that has a next one must lead to another position.
  func advanced<Page: AppStorePage>(
    _ page: Page, from position: String?
  ) throws(AppStoreServerError) -> Page {
    guard let next = page.next, next == position else { return page }
    throw .repeatedPosition
  }
}
