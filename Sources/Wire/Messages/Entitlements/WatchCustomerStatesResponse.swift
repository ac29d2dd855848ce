import CEntitleMessages
package import NIOCore

/// The next change of a watch, or only how far it has come.
public struct WatchCustomerStatesResponse: Hashable, WireMessage {
  /// To go on after this response. Opaque, but "0" is the beginning.
  public var cursor: String
  /// Nil in a response that only moves the cursor.
  public var change: CustomerChange?

  public init(cursor: String, change: CustomerChange? = nil) {
    self.cursor = cursor
    self.change = change
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension WatchCustomerStatesResponse: MappedMessage {
  static let shape = MessageShape(entitle__v1__watch_customer_states_response__init)

  init(reading message: Entitle__V1__WatchCustomerStatesResponse) throws(MessageError) {
    cursor = Self.text(message.cursor)
    change = try Self.optional(message.change, as: CustomerChange.self)
  }

  func write(
    to message: inout Entitle__V1__WatchCustomerStatesResponse, in arena: MessageArena
  ) throws(MessageError) {
    message.cursor = try Self.text(cursor, "cursor", in: arena)
    if let change { message.change = try change.make(in: arena) }
  }
}
