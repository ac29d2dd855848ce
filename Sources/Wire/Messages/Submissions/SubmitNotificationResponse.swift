import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// What became of a notification. When it was accepted, it is committed.
public struct SubmitNotificationResponse: Hashable, WireMessage {
  /// When it is not ``SubmissionVerdict/ok``, nothing was stored and only ``detail`` is set.
  public var verdict: SubmissionVerdict
  /// Why it was refused, in English; nil when it was not.
  public var detail: String?
  public var notificationUUID: NotificationUUID?
  /// `notificationType` as it came, known or not (R10).
  public var notificationType: String?
  public var subtype: String?
  /// True when this notification was known already.
  public var isDuplicate: Bool
  /// What became of the signed payloads inside it.
  public var results: [SubmittedItemResult]
  /// The customers that it concerns, each once, changed or not.
  public var customers: [SubmittedCustomer]
  /// What it asks somebody to do or to know; empty for a duplicate.
  public var events: [FeedEvent]

  public init(
    verdict: SubmissionVerdict, detail: String? = nil, notificationUUID: NotificationUUID? = nil,
    notificationType: String? = nil, subtype: String? = nil, isDuplicate: Bool = false,
    results: [SubmittedItemResult] = [], customers: [SubmittedCustomer] = [],
    events: [FeedEvent] = []
  ) {
    self.verdict = verdict
    self.detail = detail
    self.notificationUUID = notificationUUID
    self.notificationType = notificationType
    self.subtype = subtype
    self.isDuplicate = isDuplicate
    self.results = results
    self.customers = customers
    self.events = events
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension SubmitNotificationResponse: MappedMessage {
  static let shape = MessageShape(entitle__v1__submit_notification_response__init)

  init(reading message: Entitle__V1__SubmitNotificationResponse) throws(MessageError) {
    verdict = Self.known(message.verdict, of: SubmissionVerdict.self) ?? .unrecognized
    detail = Self.optionalText(message.detail)
    notificationUUID = Self.optionalIdentifier(message.notification_uuid)
    notificationType = Self.optionalText(message.notification_type)
    subtype = Self.optionalText(message.subtype)
    isDuplicate = message.duplicate != 0
    results = try Self.list(
      message.results, count: message.n_results, of: SubmittedItemResult.self)
    customers = try Self.list(
      message.customers, count: message.n_customers, of: SubmittedCustomer.self)
    events = try Self.list(
      message.events, count: message.n_events, of: FeedEvent.self, where: FeedEvent.isKnown)
  }

  func write(
    to message: inout Entitle__V1__SubmitNotificationResponse, in arena: MessageArena
  ) throws(MessageError) {
    message.verdict = Self.number(verdict)
    message.detail = try Self.text(detail, "detail", in: arena)
    message.notification_uuid = try Self.text(notificationUUID, "notification_uuid", in: arena)
    message.notification_type = try Self.text(notificationType, "notification_type", in: arena)
    message.subtype = try Self.text(subtype, "subtype", in: arena)
    message.duplicate = isDuplicate ? 1 : 0
    message.n_results = results.count
    message.results = try Self.list(results, in: arena)
    message.n_customers = customers.count
    message.customers = try Self.list(customers, in: arena)
    message.n_events = events.count
    message.events = try Self.list(events, in: arena)
  }
}
