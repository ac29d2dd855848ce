import CEntitleMessages
public import EntitlementDomain

extension LinkTarget {
  /// False for a kind that only a newer server knows: lists leave the target out.
  static func isKnown(_ message: Entitle__V1__LinkTarget) -> Bool {
    message.target_case.isSet
  }

  init(reading message: Entitle__V1__LinkTarget) throws(MessageError) {
    switch message.target_case {
    case ENTITLE__V1__LINK_TARGET__TARGET_ORIGINAL_TRANSACTION_ID:
      self = .chain(Self.identifier(message.original_transaction_id))
    case ENTITLE__V1__LINK_TARGET__TARGET_APP_TRANSACTION_ID:
      self = .appTransaction(Self.identifier(message.app_transaction_id))
    default:
      throw Self.error(.missing(field: "target"))
    }
  }

  func write(
    to message: inout Entitle__V1__LinkTarget, in arena: MessageArena
  ) throws(MessageError) {
    switch self {
    case .chain(let id):
      message.original_transaction_id = try Self.text(id, "original_transaction_id", in: arena)
      message.target_case = ENTITLE__V1__LINK_TARGET__TARGET_ORIGINAL_TRANSACTION_ID
    case .appTransaction(let id):
      message.app_transaction_id = try Self.text(id, "app_transaction_id", in: arena)
      message.target_case = ENTITLE__V1__LINK_TARGET__TARGET_APP_TRANSACTION_ID
    }
  }

  /// Checks the limits of requests. Stored targets need not meet them: an id of Apple's may have
  /// any length.
  fileprivate static func checkLengths(
    _ message: Entitle__V1__LinkTarget
  ) throws(MessageError) {
    switch message.target_case {
    case ENTITLE__V1__LINK_TARGET__TARGET_ORIGINAL_TRANSACTION_ID:
      let _: OriginalTransactionID = try required(
        message.original_transaction_id, "original_transaction_id",
        limit: MessageLimits.identifierLength)
    case ENTITLE__V1__LINK_TARGET__TARGET_APP_TRANSACTION_ID:
      let _: AppTransactionID = try required(
        message.app_transaction_id, "app_transaction_id", limit: MessageLimits.identifierLength)
    default:
      throw error(.missing(field: "target"))
    }
  }
}

extension MappedMessage {
  /// A required target of a request.
  static func requested(
    _ field: UnsafeMutablePointer<Entitle__V1__LinkTarget>?, as type: LinkTarget.Type,
    _ name: StaticString
  ) throws(MessageError) -> LinkTarget {
    if let field { try LinkTarget.checkLengths(field.pointee) }
    return try required(field, as: LinkTarget.self, name)
  }
}

/// Request of `GetLinkHistory`: the owners of a chain or app transaction over time, or the links of
/// an account over time.
public struct GetLinkHistoryRequest: Hashable, Sendable {
  /// What to ask about.
  public enum Subject: Hashable, Sendable {
    /// The owners of a chain or app transaction.
    case target(LinkTarget)
    /// The chains and app transactions of an account.
    case account(AccountID)
  }

  /// The app and environment.
  public var scope: AppScope
  /// What to ask about.
  public var subject: Subject

  public init(scope: AppScope, subject: Subject) {
    self.scope = scope
    self.subject = subject
  }
}

extension GetLinkHistoryRequest {
  init(reading message: Entitle__V1__GetLinkHistoryRequest) throws(MessageError) {
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    switch message.subject_case {
    case ENTITLE__V1__GET_LINK_HISTORY_REQUEST__SUBJECT_ORIGINAL_TRANSACTION_ID:
      subject = .target(
        .chain(
          try Self.required(
            message.original_transaction_id, "original_transaction_id",
            limit: MessageLimits.identifierLength)))
    case ENTITLE__V1__GET_LINK_HISTORY_REQUEST__SUBJECT_APP_TRANSACTION_ID:
      subject = .target(
        .appTransaction(
          try Self.required(
            message.app_transaction_id, "app_transaction_id", limit: MessageLimits.identifierLength)
        ))
    case ENTITLE__V1__GET_LINK_HISTORY_REQUEST__SUBJECT_ACCOUNT_ID:
      subject = .account(
        try Self.required(
          message.account_id, "account_id", limit: MessageLimits.identifierLength))
    default:
      throw Self.error(.missing(field: "subject"))
    }
  }

  func write(
    to message: inout Entitle__V1__GetLinkHistoryRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.number
    switch subject {
    case .target(.chain(let id)):
      message.original_transaction_id = try Self.text(id, "original_transaction_id", in: arena)
      message.subject_case = ENTITLE__V1__GET_LINK_HISTORY_REQUEST__SUBJECT_ORIGINAL_TRANSACTION_ID
    case .target(.appTransaction(let id)):
      message.app_transaction_id = try Self.text(id, "app_transaction_id", in: arena)
      message.subject_case = ENTITLE__V1__GET_LINK_HISTORY_REQUEST__SUBJECT_APP_TRANSACTION_ID
    case .account(let id):
      message.account_id = try Self.text(id, "account_id", in: arena)
      message.subject_case = ENTITLE__V1__GET_LINK_HISTORY_REQUEST__SUBJECT_ACCOUNT_ID
    }
  }
}
