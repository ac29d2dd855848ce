package import Framing

/// A server, and what a connection to it needs: for callers that use connections of their own.
package struct RPCTarget: Sendable {
  package var address: ServerAddress
  /// For an address with TLS; nil: the defaults.
  package var tls: ClientTLS?
  /// Sent with each request, after its own metadata.
  package var metadata: [(key: String, value: String)]
  /// Sent with each request too; nil: none.
  package var token: ClientToken?

  package init(
    _ address: ServerAddress, tls: ClientTLS? = nil,
    metadata: [(key: String, value: String)] = [], token: ClientToken? = nil
  ) {
    self.address = address
    self.tls = tls
    self.metadata = metadata
    self.token = token
  }
}
