package import Wire

/// Calls of `AccessService`.
extension EntitlementClient {
  /// Who the server takes this client for, and what it may do.
  package func whoAmI() async throws(RPCClientError) -> WhoAmIResponse {
    try await call(WireMethods.whoAmI, WhoAmIRequest())
  }

  /// The credentials in force, without secrets.
  package func credentials() async throws(RPCClientError) -> CredentialsResponse {
    try await call(WireMethods.getCredentials, GetCredentialsRequest())
  }

  /// Lets the server read its file of credentials again.
  ///
  /// - Parameters:
  ///   - dryRun: checks the file and changes nothing.
  ///   - onBehalfOf: the person or tool for whom it is done.
  package func reloadCredentials(
    dryRun: Bool, onBehalfOf: String? = nil
  ) async throws(RPCClientError) -> CredentialsResponse {
    try await call(
      WireMethods.reloadCredentials,
      ReloadCredentialsRequest(isDryRun: dryRun, onBehalfOf: onBehalfOf))
  }
}
