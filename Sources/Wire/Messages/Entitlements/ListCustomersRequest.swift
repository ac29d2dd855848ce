import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// Asks for a page of the accounts of one app and environment.
public struct ListCustomersRequest: Hashable, WireMessage {
  public var scope: AppScope
  /// As the caller sent it, never negative; see ``effectivePageSize``.
  public var pageSize: Int
  /// The token that the page before answered; nil for the first page.
  public var pageToken: String?

  public init(scope: AppScope, pageSize: Int = 0, pageToken: String? = nil) {
    self.scope = scope
    self.pageSize = pageSize
    self.pageToken = pageToken
  }

  /// How many customers to answer at most: the default for 0, and never above the limit.
  public var effectivePageSize: Int {
    pageSize == 0
      ? MessageLimits.defaultPageSize : min(pageSize, MessageLimits.largestPageSize)
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension ListCustomersRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__list_customers_request__init)

  init(reading message: Entitle__V1__ListCustomersRequest) throws(MessageError) {
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    guard message.page_size >= 0 else { throw Self.error(.outOfRange(field: "page_size")) }
    pageSize = Int(message.page_size)
    pageToken = Self.optionalText(message.page_token)
    guard pageToken?.utf8.count ?? 0 <= MessageLimits.pageTokenLength else {
      throw Self.error(.tooLong(field: "page_token", limit: MessageLimits.pageTokenLength))
    }
  }

  func write(
    to message: inout Entitle__V1__ListCustomersRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    message.page_size = Int32(clamping: pageSize)
    message.page_token = try Self.text(pageToken, "page_token", in: arena)
  }
}
