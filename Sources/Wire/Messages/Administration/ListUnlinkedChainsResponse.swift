import CEntitleMessages
package import NIOCore

/// A page of the chains that no account has.
package struct ListUnlinkedChainsResponse: Hashable, WireMessage {
  /// By original transaction id.
  package var chains: [UnlinkedChainEntry]
  /// Where the next page starts; nil when this is the last one.
  package var nextPageToken: String?

  package init(chains: [UnlinkedChainEntry], nextPageToken: String?) {
    self.chains = chains
    self.nextPageToken = nextPageToken
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension ListUnlinkedChainsResponse: MappedMessage {
  static let shape = MessageShape(entitle__v1__list_unlinked_chains_response__init)

  init(reading message: Entitle__V1__ListUnlinkedChainsResponse) throws(MessageError) {
    chains = try Self.list(message.chains, count: message.n_chains, of: UnlinkedChainEntry.self)
    nextPageToken = Self.optionalText(message.next_page_token)
  }

  func write(
    to message: inout Entitle__V1__ListUnlinkedChainsResponse, in arena: MessageArena
  ) throws(MessageError) {
    message.n_chains = chains.count
    message.chains = try Self.list(chains, in: arena)
    message.next_page_token = try Self.text(nextPageToken, "next_page_token", in: arena)
  }
}
