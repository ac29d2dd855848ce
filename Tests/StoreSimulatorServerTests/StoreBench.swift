import Cryptography
import EntitlementDomain
import Foundation
import StoreSimulator
import StoreSimulatorServer
import Synchronization
import TestSupport

/// A running simulator on a port of its own, whose virtual time stands still until it is advanced.
final class StoreBench: Sendable {
  static let start = Milliseconds(1_772_366_400_000)
  /// The real time at the start, in the middle of an hour.
  static let realStart = Milliseconds(1_795_001_400_000)
  static let key = Result { try StoreAPIKey.generate() }
  private static let authority = Result { try SigningAuthority.generate() }

  let simulation: Simulation
  let listener: StoreListener
  private let sender: NotificationSender?
  let clock: MovableRealTime
  private let key: StoreAPIKey

  /// - Parameter notify: where notifications are posted to.
  init(
    _ environment: StoreEnvironment = .sandbox, population: Int = 0, notify: String? = nil,
    past: Simulation.Past = .deliver, rateFactor: Double = 1_000, speed: Double? = 0,
    patience: Duration = .seconds(60)
  ) async throws {
    key = try Self.key.get()
    var configuration = Simulation.Configuration(
      world: World.Configuration(
        seed: 1, environment: environment, start: Self.start, population: population),
      speed: speed)
    configuration.rateFactor = rateFactor
    configuration.past = past
    configuration.followerPatience = .seconds(60)
    let sender = notify.map { NotificationSender(url: $0, patience: patience) }
    self.sender = sender
    let clock = MovableRealTime()
    let simulation = try Simulation(
      configuration, authority: try Self.authority.get(), key: key, sender: sender,
      realTime: { clock.now })
    self.simulation = simulation
    self.clock = clock
    listener = try await StoreListener.start(host: "127.0.0.1", port: 0) { request in
      await simulation.answer(request)
    }
  }

  func stop() async {
    await listener.stop()
    await sender?.shutDown()
  }

  // MARK: Requests

  struct Answer {
    let status: Int
    let type: String?
    let retryAfter: String?
    let body: [UInt8]

    var json: [String: Any] {
      (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
    }

    var errorCode: Int? { json["errorCode"] as? Int }
    func text(_ name: String) -> String? { json[name] as? String }
    func texts(_ name: String) -> [String] { json[name] as? [String] ?? [] }
    func objects(_ name: String) -> [[String: Any]] { json[name] as? [[String: Any]] ?? [] }
  }

  /// Sends a request on a connection of its own.
  ///
  /// - Parameter token: nil for a valid one.
  func send(
    _ method: String, _ path: String, _ body: String? = nil, token: String? = nil,
    type: String = "application/json"
  ) throws -> Answer {
    let socket = try HTTPSocket(port: UInt16(listener.port))
    var fields = [("authorization", "Bearer \(try token ?? self.token())")]
    if body != nil { fields.append(("content-type", type)) }
    try socket.request(method, path, fields, Array((body ?? "").utf8))
    let response = try socket.response()
    return Answer(
      status: response.status, type: response["content-type"],
      retryAfter: response["retry-after"], body: response.body)
  }

  func get(_ path: String) throws -> Answer { try send("GET", "/inApps/\(path)") }

  func put(_ path: String, _ body: String) throws -> Answer {
    try send("PUT", "/inApps/\(path)", body)
  }

  func post(_ path: String, _ body: String? = nil) throws -> Answer {
    try send("POST", "/inApps/\(path)", body)
  }

  func control(_ path: String, _ body: String) throws -> Answer {
    try send("POST", "/control/\(path)", body)
  }

  @discardableResult
  func advance(days: Int64) throws -> Answer {
    try control("clock", "{\"advanceMs\":\(days * Milliseconds.dayLength)}")
  }

  /// Buys, and returns the transaction's id.
  func buy(_ product: SimulatedProduct, by customer: String, more: String = "") throws -> String {
    let answer = try control(
      "buy", "{\"productId\":\"\(product.id)\",\"customer\":\"\(customer)\"\(more)}")
    guard let id = answer.objects("transactions").first?["transactionId"] as? String else {
      throw BenchFailure(description: "not bought: \(String(decoding: answer.body, as: UTF8.self))")
    }
    return id
  }

  // MARK: Tokens

  /// A token of the developer; `claims` replaces or, with nil, removes claims.
  func token(
    _ claims: [String: Any?] = [:], header: [String: Any?] = [:], key other: SigningKey? = nil
  ) throws -> String {
    let now = clock.now.rawValue / 1_000
    var content: [String: Any?] = [
      "iss": key.issuerID, "iat": now, "exp": now + 300, "aud": "appstoreconnect-v1",
      "bid": SimulatedApp.bundleID.rawValue,
    ]
    content.merge(claims) { $1 }
    var head: [String: Any?] = ["alg": "ES256", "kid": key.keyID, "typ": "JWT"]
    head.merge(header) { $1 }
    let signed = "\(try Self.part(head)).\(try Self.part(content))"
    let signature = try (other ?? key.key).signature(over: Array(signed.utf8))
    return "\(signed).\(Self.base64(signature))"
  }

  private static func part(_ members: [String: Any?]) throws -> String {
    let data = try JSONSerialization.data(withJSONObject: members.compactMapValues { $0 })
    return base64(Array(data))
  }

  private static func base64(_ bytes: [UInt8]) -> String {
    String(decoding: Base64Form.urlWithoutPadding.encode(bytes), as: UTF8.self)
  }

  /// The payload of a JWS.
  static func payload(_ jws: String?) throws -> [String: Any] {
    let parts = (jws ?? "").split(separator: ".")
    guard parts.count == 3 else { throw BenchFailure(description: "no JWS") }
    let bytes = try Base64Form.urlWithoutPadding.decode(parts[1].utf8)
    return try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] ?? [:]
  }
}

struct BenchFailure: Error, CustomStringConvertible {
  let description: String
}

/// The real time of a test.
final class MovableRealTime: Sendable {
  private let time = Mutex(StoreBench.realStart)

  var now: Milliseconds { time.withLock { $0 } }

  func advance(by milliseconds: Int64) {
    time.withLock { $0 = $0.advanced(by: milliseconds) }
  }
}
