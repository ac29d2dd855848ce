import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// Whether one customer has one entitlement.
public struct CheckEntitlementResponse: Hashable, WireMessage {
  public var isGranted: Bool
  /// The latest end of what confers it; nil when it is not granted or has no end.
  public var until: Milliseconds?
  /// Hold this answer at most until then (R30); nil when it changes only with new facts.
  public var nextTransitionAt: Milliseconds?
  /// The customer's; 0 when nothing is known.
  public var revision: Int64

  public init(
    isGranted: Bool, until: Milliseconds?, nextTransitionAt: Milliseconds?, revision: Int64
  ) {
    self.isGranted = isGranted
    self.until = until
    self.nextTransitionAt = nextTransitionAt
    self.revision = revision
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension CheckEntitlementResponse: MappedMessage {
  static let shape = MessageShape(entitle__v1__check_entitlement_response__init)

  init(reading message: Entitle__V1__CheckEntitlementResponse) {
    isGranted = message.granted != 0
    until = message.has_until_ms_case.isSet ? Milliseconds(message.until_ms) : nil
    nextTransitionAt =
      message.has_next_transition_at_ms_case.isSet
      ? Milliseconds(message.next_transition_at_ms) : nil
    revision = message.revision
  }

  func write(to message: inout Entitle__V1__CheckEntitlementResponse, in arena: MessageArena) {
    message.granted = isGranted ? 1 : 0
    if let until {
      message.has_until_ms_case = ENTITLE__V1__CHECK_ENTITLEMENT_RESPONSE__HAS_UNTIL_MS_UNTIL_MS
      message.until_ms = until.rawValue
    }
    if let nextTransitionAt {
      message.has_next_transition_at_ms_case =
        ENTITLE__V1__CHECK_ENTITLEMENT_RESPONSE__HAS_NEXT_TRANSITION_AT_MS_NEXT_TRANSITION_AT_MS
      message.next_transition_at_ms = nextTransitionAt.rawValue
    }
    message.revision = revision
  }
}
