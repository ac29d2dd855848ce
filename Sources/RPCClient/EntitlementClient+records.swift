package import EntitlementDomain
package import Wire

// Records of customers: history, export, deletion, chains without an account, and notifications.
extension EntitlementClient {
  /// Reads the history of an account, oldest entry first.
  package func customerHistory(
    _ request: GetCustomerHistoryRequest
  ) async throws(RPCClientError) -> GetCustomerHistoryResponse {
    try await call(WireMethods.getCustomerHistory, request)
  }

  /// Exports everything that is known of an account, as one JSON document in pieces.
  ///
  /// The whole export has the client's timeout. It also ends when its reader is more than
  /// `RPCLimits.streamReadBuffer` bytes behind.
  package func exportCustomer(
    _ request: ExportCustomerRequest
  ) throws(RPCClientError) -> ExportSequence {
    ExportSequence(
      messages: try stream(WireMethods.exportCustomer, request, timeout: timeout))
  }

  /// Deletes the data of an account, and unlinks its purchases. Repeating the call gives NOT_FOUND.
  package func deleteCustomer(
    _ request: DeleteCustomerRequest
  ) async throws(RPCClientError) -> LinkResponse {
    try await call(WireMethods.deleteCustomer, request)
  }

  /// Reads one page of the chains without an account. ``unlinkedChains(in:pageSize:)`` reads all
  /// pages.
  package func listUnlinkedChains(
    _ request: ListUnlinkedChainsRequest
  ) async throws(RPCClientError) -> ListUnlinkedChainsResponse {
    try await call(WireMethods.listUnlinkedChains, request)
  }

  /// All chains of an app and environment without an account, in the order of their ids. Each page
  /// is requested when the iteration reaches it.
  package func unlinkedChains(
    in scope: AppScope, pageSize: Int = ListUnlinkedChainsRequest.largestPageSize
  ) -> PageSequence<UnlinkedChainEntry> {
    PageSequence { token async throws(RPCClientError) in
      var request = ListUnlinkedChainsRequest(scope: scope, pageSize: pageSize)
      request.pageToken = token
      let response = try await listUnlinkedChains(request)
      return (response.chains, response.nextPageToken)
    }
  }

  /// Reads one page of the notifications that were received. ``notifications(_:)`` reads all pages.
  package func listNotifications(
    _ request: ListNotificationsRequest
  ) async throws(RPCClientError) -> ListNotificationsResponse {
    try await call(WireMethods.listNotifications, request)
  }

  /// All notifications that a request selects, newest first. Each page is requested when the
  /// iteration reaches it.
  package func notifications(
    _ request: ListNotificationsRequest
  ) -> PageSequence<ReceivedNotificationEntry> {
    PageSequence { token async throws(RPCClientError) in
      var request = request
      request.pageToken = token
      let response = try await listNotifications(request)
      return (response.notifications, response.nextPageToken)
    }
  }
}
