import CEntitleMessages
package import EntitlementDomain

/// Request of `ImportArchivedResponse`: facts of a response of Apple's former `verifyReceipt`, which is not
/// signed.
package struct ImportArchivedResponseRequest: Hashable, Sendable {
  /// The app that the response must be of.
  package var bundleID: BundleID
  /// The environment of a response that names none; any other must agree. Nil: the response must name it.
  package var environment: StoreEnvironment?
  /// The account that owns the purchases; nil when it is not known.
  package var accountID: AccountID?
  /// The JSON.
  package var response: [UInt8]
  /// When Apple gave a response that has no `request_date_ms`; nil: at the latest moment in it that had come
  /// by then.
  package var asOf: Milliseconds?
  /// On whose behalf the caller acts: a person or a tool.
  package var onBehalfOf: String?

  package init(
    bundleID: BundleID, environment: StoreEnvironment? = nil, accountID: AccountID? = nil,
    response: [UInt8], asOf: Milliseconds? = nil, onBehalfOf: String? = nil
  ) {
    self.bundleID = bundleID
    self.environment = environment
    self.accountID = accountID
    self.response = response
    self.asOf = asOf
    self.onBehalfOf = onBehalfOf
  }
}

extension ImportArchivedResponseRequest {
  init(reading message: Entitle__V1__ImportArchivedResponseRequest) throws(MessageError) {
    bundleID = try Self.required(
      message.bundle_id, "bundle_id", limit: MessageLimits.identifierLength)
    environment = try Self.anyEnvironment(message.environment)
    accountID = try Self.bounded(
      message.account_id, "account_id", limit: MessageLimits.identifierLength)
    response = try Self.required(message.response, "response", limit: Self.maximumResponseLength)
    asOf = message.has_as_of_ms_case.isSet ? Milliseconds(message.as_of_ms) : nil
    onBehalfOf = try Self.bounded(
      message.on_behalf_of, "on_behalf_of", limit: MessageLimits.identifierLength)
  }

  func write(
    to message: inout Entitle__V1__ImportArchivedResponseRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.bundle_id = try Self.text(bundleID, "bundle_id", in: arena)
    if let environment { message.environment = environment.number }
    message.account_id = try Self.text(accountID, "account_id", in: arena)
    message.response = try Self.bytes(response, in: arena)
    if let asOf {
      message.has_as_of_ms_case =
        ENTITLE__V1__IMPORT_ARCHIVED_RESPONSE_REQUEST__HAS_AS_OF_MS_AS_OF_MS
      message.as_of_ms = asOf.rawValue
    }
    message.on_behalf_of = try Self.text(onBehalfOf, "on_behalf_of", in: arena)
  }
}
