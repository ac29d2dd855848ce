package import ArgumentParser
package import Framing
package import RPCClient

/// How a program connects with TLS: for every program that calls a server.
package struct TLSOptions: ParsableArguments {
  @Flag(
    help: """
      Connect with TLS 1.3. Implied by an address with tls: or mtls:, and by the other options of \
      TLS.
      """)
  package var tls = false

  @Option(
    name: .customLong("tls-ca"),
    help: ArgumentHelp(
      """
      PEM file of the authorities that sign the server's certificate. Default: those that the \
      system trusts.
      """, valueName: "file"))
  package var authorityFile: String?

  @Option(
    name: .customLong("tls-cert"),
    help: ArgumentHelp("PEM file of the client's certificate.", valueName: "file"))
  package var certificateFile: String?

  @Option(
    name: .customLong("tls-key"),
    help: ArgumentHelp(
      "PEM file of its key, which other users must not be able to read.", valueName: "file"))
  package var keyFile: String?

  @Option(
    name: .customLong("tls-server-name"),
    help: ArgumentHelp(
      "Name in the server's certificate, if it is not the host of the address.", valueName: "name"))
  package var serverName: String?

  package init() {}

  package func validate() throws {
    guard (certificateFile == nil) == (keyFile == nil) else {
      throw ValidationError("--tls-cert and --tls-key are used together")
    }
  }

  /// Whether the options ask for TLS.
  package var isGiven: Bool {
    tls || authorityFile != nil || certificateFile != nil || serverName != nil
  }

  /// The address with TLS, if the options ask for it.
  ///
  /// - Throws: `ValidationError` for a Unix socket with TLS.
  package func address(_ address: ServerAddress) throws -> ServerAddress {
    guard isGiven else { return address }
    switch address {
    case .tcp(let host, let port): return .tls(host: host, port: port)
    case .tls, .mutualTLS: return address
    case .unix:
      throw ValidationError("\(address): a Unix socket has no TLS")
    }
  }

  /// For the client's configuration; nil: the defaults.
  package var settings: ClientTLS? {
    guard isGiven else { return nil }
    return ClientTLS(
      authorityFile: authorityFile, certificateFile: certificateFile, keyFile: keyFile,
      serverName: serverName)
  }
}
