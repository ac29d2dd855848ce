import CEntitleMessages
package import NIOCore

/// Asks for a page of the change feed.
package struct ListChangesRequest: Hashable, WireMessage {
  /// Changes after this sequence number; 0: from the first.
  package var afterSequence: Int64
  /// As the caller sent it, never negative; see ``effectivePageSize``.
  package var pageSize: Int

  package init(afterSequence: Int64 = 0, pageSize: Int = 0) {
    self.afterSequence = afterSequence
    self.pageSize = pageSize
  }

  /// How many changes to answer at most: the default for 0, and never above the limit.
  package var effectivePageSize: Int {
    pageSize == 0
      ? MessageLimits.defaultChangePageSize : min(pageSize, MessageLimits.largestChangePageSize)
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension ListChangesRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__list_changes_request__init)

  init(reading message: Entitle__V1__ListChangesRequest) throws(MessageError) {
    afterSequence = message.after_sequence
    guard message.page_size >= 0 else { throw Self.error(.outOfRange(field: "page_size")) }
    pageSize = Int(message.page_size)
  }

  func write(to message: inout Entitle__V1__ListChangesRequest, in arena: MessageArena) {
    message.after_sequence = afterSequence
    message.page_size = Int32(clamping: pageSize)
  }
}
