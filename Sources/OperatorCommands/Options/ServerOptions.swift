import ArgumentParser
import ClientOptions
import Foundation
import Framing
import Programs
import RPCClient
import Wire

/// The address of the server, how to connect to it, and the timeout of calls.
struct ServerOptions: ParsableArguments {
  @Option(
    help: """
      Server: HOST:PORT, tls:HOST:PORT or unix:PATH. Default: the environment's ENTITLECTL_SERVER, else \
      127.0.0.1:7100.
      """)
  var server: String?

  @OptionGroup var tls: TLSOptions

  @Option(help: "Timeout of a call, in seconds.")
  var timeout: Double = 10

  func validate() throws {
    guard timeout > 0, timeout <= 86_400 else {
      throw ValidationError("--timeout is more than 0 and at most 86400 seconds")
    }
    _ = try address()
  }

  private func address() throws -> ServerAddress {
    let environment = ProcessInfo.processInfo.environment
    let text = server ?? environment["ENTITLECTL_SERVER"] ?? "127.0.0.1:7100"
    let address: ServerAddress
    do {
      address = try ServerAddress(parsing: text)
    } catch {
      throw ValidationError(
        "\(text) is not a server address: HOST:PORT, tls:HOST:PORT or unix:PATH is expected")
    }
    return try tls.address(address)
  }

  private var configuration: EntitlementClientConfiguration {
    EntitlementClientConfiguration(timeout: .seconds(timeout), tls: tls.settings)
  }

  /// A client that is not connected yet.
  func client() throws -> EntitlementClient {
    EntitlementClient(try address(), configuration: configuration)
  }

  /// Connects, runs `body` and closes the connection. An `RPCClientError` is thrown as a
  /// ``CommandFailure``.
  ///
  /// - Parameter streamReadBuffer: the read buffer of a stream, in bytes; nil: the client's
  ///   default.
  func withClient<Value>(
    streamReadBuffer: Int? = nil, _ body: (EntitlementClient) async throws -> Value
  ) async throws -> Value {
    var configuration = configuration
    if let streamReadBuffer { configuration.streamReadBuffer = streamReadBuffer }
    do {
      let client = try await EntitlementClient.connect(
        to: try address(), configuration: configuration)
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
