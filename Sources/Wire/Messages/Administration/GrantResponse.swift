import CEntitleMessages
package import EntitlementDomain
package import NIOCore

/// What became of a grant that was given or withdrawn. It is committed.
package struct GrantResponse: Hashable, WireMessage {
  /// As it is kept.
  package var grant: Grant
  /// False when it stood so before.
  package var isChanged: Bool
  /// The account's, after the call.
  package var revision: Int64

  package init(grant: Grant, isChanged: Bool, revision: Int64) {
    self.grant = grant
    self.isChanged = isChanged
    self.revision = revision
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension GrantResponse: MappedMessage {
  static let shape = MessageShape(entitle__v1__grant_response__init)

  init(reading message: Entitle__V1__GrantResponse) throws(MessageError) {
    grant = try Self.required(message.grant, as: Grant.self, "grant")
    isChanged = message.changed != 0
    revision = message.revision
  }

  func write(
    to message: inout Entitle__V1__GrantResponse, in arena: MessageArena
  ) throws(MessageError) {
    message.grant = try grant.make(in: arena)
    message.changed = isChanged ? 1 : 0
    message.revision = revision
  }
}
