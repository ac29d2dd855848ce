import CEntitleMessages
package import NIOCore

/// Who owned a chain or app transaction, or what an account owned.
public struct GetLinkHistoryResponse: Hashable, WireMessage {
  /// Oldest first; at most ``MessageLimits/historyLength``, the latest.
  public var events: [LinkHistoryEntry]

  public init(events: [LinkHistoryEntry]) {
    self.events = events
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension GetLinkHistoryResponse: MappedMessage {
  static let shape = MessageShape(entitle__v1__get_link_history_response__init)

  init(reading message: Entitle__V1__GetLinkHistoryResponse) throws(MessageError) {
    events = try Self.list(
      message.events, count: message.n_events, of: LinkHistoryEntry.self,
      where: LinkHistoryEntry.isKnown)
  }

  func write(
    to message: inout Entitle__V1__GetLinkHistoryResponse, in arena: MessageArena
  ) throws(MessageError) {
    message.n_events = events.count
    message.events = try Self.list(events, in: arena)
  }
}
