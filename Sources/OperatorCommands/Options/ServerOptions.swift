import ArgumentParser
import ClientOptions
import Foundation
import Framing
import Programs
import RPCClient
import Wire

/// The server, how to connect to it, the caller's token, and the timeout of calls.
struct ServerOptions: ParsableArguments {
  @Option(
    help: """
      The context to use: see entitlectl context. Default: the environment's \
      \(ServerOptions.contextVariable), else the current one.
      """)
  var context: String?

  @Option(
    help: """
      Server: HOST:PORT, tls:HOST:PORT or unix:PATH. With another server than the context's, \
      nothing of the context is used, neither its certificates nor its token. Default: the \
      environment's \(ServerOptions.serverVariable), else the context's, else \
      \(ServerOptions.defaultServer).
      """)
  var server: String?

  @OptionGroup var tls: TLSOptions
  @OptionGroup var token: TokenOptions

  @Option(help: "Timeout of a call, in seconds.")
  var timeout: Double = 10

  static let contextVariable = "ENTITLECTL_CONTEXT"
  static let serverVariable = "ENTITLECTL_SERVER"
  static let defaultServer = "127.0.0.1:7100"

  func validate() throws {
    guard timeout > 0, timeout <= 86_400 else {
      throw ValidationError("--timeout is more than 0 and at most 86400 seconds")
    }
    if let server { _ = try tls.address(try Self.address(server)) }
  }

  static func address(_ text: String) throws -> ServerAddress {
    do {
      return try ServerAddress(parsing: text)
    } catch {
      throw ValidationError(
        "\(text) is not a server address: HOST:PORT, tls:HOST:PORT or unix:PATH is expected")
    }
  }

  /// A client that is not connected yet.
  func client() throws -> EntitlementClient {
    let (address, configuration) = try target()
    return EntitlementClient(address, configuration: configuration)
  }

  /// Whether the server may know the caller: by a token, a certificate, or the user of a Unix socket.
  var hasProof: Bool {
    get throws {
      let chosen = try chosen()
      if case .unix = chosen.address { return true }
      return try chosen.tls.certificateFile != nil
        || token.token(for: chosen.address, orIn: chosen.tokenFile) != nil
    }
  }

  private func target() throws -> (ServerAddress, EntitlementClientConfiguration) {
    let chosen = try chosen()
    let token = try token.token(for: chosen.address, orIn: chosen.tokenFile)
    return (
      chosen.address,
      EntitlementClientConfiguration(
        timeout: .seconds(timeout), token: token, tls: chosen.tls.settings)
    )
  }

  /// Connects, runs `body` and closes the connection. An `RPCClientError` is thrown as a
  /// ``CommandFailure``.
  ///
  /// - Parameter streamReadBuffer: the read buffer of a stream, in bytes; nil: the client's
  ///   default.
  func withClient<Value>(
    streamReadBuffer: Int? = nil, _ body: (EntitlementClient) async throws -> Value
  ) async throws -> Value {
    var (address, configuration) = try target()
    if let streamReadBuffer { configuration.streamReadBuffer = streamReadBuffer }
    do {
      let client = try await EntitlementClient.connect(to: address, configuration: configuration)
      do {
        let value = try await body(client)
        await client.close()
        return value
      } catch {
        await client.close()
        throw error
      }
    } catch let error as RPCClientError {
      throw CommandFailure(error)
    }
  }

  /// Like ``withClient(streamReadBuffer:_:)``, for a body that makes several calls and collects the
  /// answers.
  ///
  /// - Returns: the failure that ended `body`; nil on success.
  func failure(of body: (EntitlementClient) async throws -> Void) async throws -> CommandFailure? {
    do {
      try await withClient(body)
      return nil
    } catch let failure as CommandFailure {
      return failure
    }
  }
}

/// The server that the options, the environment and the contexts name together.
struct ChosenServer {
  let address: ServerAddress
  let tls: TLSOptions
  /// The context's.
  let tokenFile: String?
  let bundleID: String?
  let environment: EnvironmentName?
}

extension ServerOptions {
  /// For the user who runs the command.
  func chosen() throws -> ChosenServer {
    let environment = ProcessInfo.processInfo.environment
    let contexts = try ContextFile.ofUser(environment)?.load() ?? ServerContexts()
    return try chosen(among: contexts, environment: environment)
  }

  /// An option goes before the environment, the environment before a context that no option names,
  /// and all before the default. A context is used for its own server only.
  ///
  /// - Throws: `ValidationError` for a context that does not exist, and for two options that name
  ///   different servers.
  func chosen(
    among contexts: ServerContexts, environment: [String: String]
  ) throws -> ChosenServer {
    let variables = environment.filter { !$0.value.isEmpty }
    let name = context ?? variables[Self.contextVariable] ?? contexts.current
    let named = try name.map { name in
      guard let found = contexts.byName[name] else {
        throw ValidationError("\(name): no such context; entitlectl context list shows all")
      }
      return found
    }
    // The environment may name a server for other commands. The option --context is for this one.
    let text = server ?? (context == nil ? variables[Self.serverVariable] : nil)
    guard let text else {
      return try chosen(named, at: try named?.address ?? Self.address(Self.defaultServer))
    }
    let address = try tls.address(try Self.address(text))
    if let named, (try? tls.address(named.address)) == address {
      return try chosen(named, at: address)
    }
    guard context == nil else {
      throw ValidationError(
        "--context \(name ?? "") is for another server than --server \(text)")
    }
    return try chosen(nil, at: address)
  }

  private func chosen(
    _ context: ServerContext?, at address: ServerAddress
  ) throws -> ChosenServer {
    var tls = tls
    tls.authorityFile = tls.authorityFile ?? context?[.authorityFile]
    if tls.certificateFile == nil {
      tls.certificateFile = context?[.certificateFile]
      tls.keyFile = context?[.keyFile]
    }
    tls.serverName = tls.serverName ?? context?[.serverName]
    return ChosenServer(
      address: try tls.address(address), tls: tls, tokenFile: context?[.tokenFile],
      bundleID: context?[.bundleID], environment: context?.environment)
  }
}
