import AppStoreServerAPI
import Cryptography
import EntitlementDomain
import Foundation
import NIOCore
import OutboundHTTP
import TestSupport

/// A client with a key, and the stub that it calls.
struct Bench: Sendable {
  static let app = AppScope(bundleID: "com.example.scribe", environment: .production)
  static let sandbox = AppScope(bundleID: "com.example.scribe", environment: .sandbox)
  static let issuerID = "11111111-2222-3333-4444-555555555555"
  static let keyID = "ABC123DEFG"
  /// One for all: making keys takes time.
  static let signingKey = Result { try SigningKey.generate(.p256) }

  let server: StubServer
  let clock: TestClock
  /// Whether the client has the system's clocks.
  let isReal: Bool
  let client: AppStoreServerClient

  /// Runs `body` with a client of the stub, which is shut down after it.
  static func run<Value>(
    _ answers: [StubServer.Answer], limits: AppStoreServerLimits = AppStoreServerLimits(),
    _ body: (Bench) async throws -> Value
  ) async throws -> Value {
    try await run(server: StubServer(answers), limits: limits, body)
  }

  static func run<Value>(
    server: StubServer, prefix: String = "", limits: AppStoreServerLimits = AppStoreServerLimits(),
    keys: AppStoreServerKeys? = nil, clock: TestClock = TestClock(),
    observed: ObservedClock? = nil, _ body: (Bench) async throws -> Value
  ) async throws -> Value {
    var addresses = AppStoreServerAddresses()
    addresses.production = try OutboundAddress(parsing: server.url + prefix)
    addresses.sandbox = try OutboundAddress(parsing: server.url + "/sandbox")
    let client = AppStoreServerClient(
      addresses: addresses, keys: try keys ?? Self.keys(), limits: limits,
      clock: observed?.clock ?? clock.clock)
    let bench = Bench(server: server, clock: clock, isReal: observed != nil, client: client)
    let result: Result<Value, any Error>
    do {
      result = .success(try await body(bench))
    } catch {
      result = .failure(error)
    }
    await client.shutDown(deadline: .now())
    return try result.get()
  }

  static func keys() throws -> AppStoreServerKeys {
    try AppStoreServerKeys([key([app.bundleID])])
  }

  static func key(_ apps: [BundleID], keyID: String = keyID) throws -> AppStoreServerKey {
    try AppStoreServerKey(
      issuerID: issuerID, keyID: keyID, bundleIDs: apps,
      privateKeyPEM: signingKey.get().privateKeyPEM())
  }

  /// The clock of deadlines.
  var uptime: NIODeadline { isReal ? .now() : clock.uptime }
  /// A minute from now.
  var deadline: NIODeadline { uptime + .minutes(1) }

  /// A call of the simplest kind.
  func transaction(
    _ id: TransactionID = "1", in app: AppScope = app, within time: TimeAmount = .minutes(1)
  ) async throws(AppStoreServerError) -> String {
    try await client.transaction(id, in: app, deadline: uptime + time)
  }

  /// The error of ``transaction(_:in:within:)``; nil if it succeeds.
  func failure(
    in app: AppScope = app, within time: TimeAmount = .minutes(1)
  ) async -> AppStoreServerError? {
    do throws(AppStoreServerError) {
      _ = try await transaction(in: app, within: time)
      return nil
    } catch {
      return error
    }
  }
}

extension StubServer.Answer {
  /// A transaction's answer.
  static let transaction = json(#"{"signedTransactionInfo":"a.b.c"}"#)
}

/// A JWT, taken apart.
struct DecodedToken {
  let header: [String: String]
  let claims: [String: Any]
  let signed: [UInt8]
  let signature: [UInt8]

  init?(_ text: String?) {
    guard let parts = text?.split(separator: ".", omittingEmptySubsequences: false),
      parts.count == 3,
      let header = try? Base64Form.urlWithoutPadding.decode(parts[0].utf8),
      let claims = try? Base64Form.urlWithoutPadding.decode(parts[1].utf8),
      let signature = try? Base64Form.urlWithoutPadding.decode(parts[2].utf8),
      let names = try? JSONSerialization.jsonObject(with: Data(header)) as? [String: String],
      let values = try? JSONSerialization.jsonObject(with: Data(claims)) as? [String: Any]
    else { return nil }
    self.header = names
    self.claims = values
    self.signature = signature
    signed = Array("\(parts[0]).\(parts[1])".utf8)
  }

  func integer(_ name: String) -> Int64? { (claims[name] as? NSNumber)?.int64Value }
}
