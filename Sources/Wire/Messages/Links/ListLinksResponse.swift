import CEntitleMessages
package import NIOCore

/// What an account owns.
public struct ListLinksResponse: Hashable, WireMessage {
  /// Chains before app transactions, then by id.
  public var links: [AccountLink]

  public init(links: [AccountLink]) {
    self.links = links
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension ListLinksResponse: MappedMessage {
  static let shape = MessageShape(entitle__v1__list_links_response__init)

  init(reading message: Entitle__V1__ListLinksResponse) throws(MessageError) {
    links = try Self.list(
      message.links, count: message.n_links, of: AccountLink.self, where: AccountLink.isKnown)
  }

  func write(
    to message: inout Entitle__V1__ListLinksResponse, in arena: MessageArena
  ) throws(MessageError) {
    message.n_links = links.count
    message.links = try Self.list(links, in: arena)
  }
}
