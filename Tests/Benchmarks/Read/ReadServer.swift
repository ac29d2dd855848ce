import EntitlementDomain
import Foundation
import Framing
import LoadClient
import RPCClient
import StoreSimulator
import TLSSupport
import TestSupport
import Wire

/// An `entitled` on one processor that has the answers of ``HeldCustomers`` in its cache.
final class ReadServer {
  let process: EntitledProcess
  let port: UInt16
  /// Of its listener with TLS.
  let encryptedPort: UInt16
  /// Of its listener for calls by HTTP.
  let httpPort: UInt16
  /// Sent with each call: the token, if the server wants one.
  let metadata: [(key: String, value: String)]
  private let client: EntitlementClient
  private let folder: TemporaryFolder

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Starts it and submits the customers. The measurement does not use the store, so the embedded
  /// one is sufficient.
  ///
  /// - Parameter wantsToken: whether it has access control.
  init(_ customers: HeldCustomers, wantsToken: Bool = false, on processor: Int) async throws {
    folder = try TemporaryFolder()
    let access = wantsToken ? try EntitledProcess.accessControl(in: folder) : nil
    metadata =
      access.map { [(key: RequestEnvelope.authorizationName, value: "Bearer \($0.token)")] } ?? []
    process = try await EntitledProcess(
      store: "sqlite:\(folder.file("store.sqlite"))", listener: .tcp,
      arguments: ["--trust-root", "\(customers.authority.rootFingerprint)"]
        + EntitledProcess.encryption(in: folder)
        // Handshakes are measured one after the other.
        + (access?.arguments ?? []) + [
          "--short-connections-per-second", "1000000", "--maximum-connections", "12000",
          "--http-listen", "127.0.0.1:0",
        ],
      listeners: 3,
      processor: processor)
    guard case .tcp(_, let port) = process.address,
      case .tls(_, let encryptedPort) = process.addresses[1]
    else {
      preconditionFailure("it listens on the requested address")
    }
    self.port = port
    self.encryptedPort = encryptedPort
    httpPort = try process.port(of: "http")
    client = try await EntitlementClient.connect(
      to: process.address,
      configuration: EntitlementClientConfiguration(metadata: metadata))
    try await customers.submit(through: client)
  }

  /// Cache misses since the start.
  var misses: Int64 {
    get async throws {
      guard
        let misses = try await client.statistics().counters.first(where: {
          $0.name == "cache.misses"
        })
      else { throw Failure(description: "entitled has no counter of cache misses") }
      return misses.value
    }
  }

  func stop() async throws {
    await client.close()
    try process.stop()
  }
}
