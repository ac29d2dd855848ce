import CEntitleMessages
package import NIOCore

/// A page of the change feed.
package struct ListChangesResponse: Hashable, WireMessage {
  /// In commit order; fewer than asked for only at the end of the feed.
  package var changes: [ChangeEntry]

  package init(changes: [ChangeEntry]) {
    self.changes = changes
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension ListChangesResponse: MappedMessage {
  static let shape = MessageShape(entitle__v1__list_changes_response__init)

  init(reading message: Entitle__V1__ListChangesResponse) throws(MessageError) {
    changes = try Self.list(message.changes, count: message.n_changes, of: ChangeEntry.self)
  }

  func write(
    to message: inout Entitle__V1__ListChangesResponse, in arena: MessageArena
  ) throws(MessageError) {
    message.n_changes = changes.count
    message.changes = try Self.list(changes, in: arena)
  }
}
