import AccessControl
import EntitlementDomain
import Framing
import HTTPFront
import JSON
import Logging
import NIOCore
import RPCClient
import RPCServer
import ServiceSupport
import StoreSimulator
import Synchronization
import TestSupport
import Wire

/// The whole service with its HTTP listeners.
struct HTTPBench {
  let service: ServiceBench
  let front: HTTPFront
  let api: ServerAddress
  let webhook: ServerAddress

  static func run(
    access: BenchAccess? = nil, limits: RPCLimits = RPCLimits(), site: APISite = APISite(),
    frontLimits: HTTPFrontLimits = HTTPFrontLimits(),
    webhookLimits: WebhookLimits = WebhookLimits(), trustedProxies: [AddressBlock] = [],
    _ body: (HTTPBench) async throws -> Void
  ) async throws {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    // Known when the service is made, which gets the listeners.
    let signers = Mutex<(@Sendable (String) -> Bool)?>(nil)
    let webhook = WebhookSite(
      limits: webhookLimits, trustedProxies: trustedProxies, logger: logger,
      hasApp: { BundleID($0) == SimulatedApp.bundleID },
      knowsSigner: { payload in signers.withLock { $0 }?(payload) ?? false })
    let front = HTTPFront(site, limits: frontLimits)
    let listeners = [
      RPCListener(.tcp(host: "127.0.0.1", port: 0), front: front),
      RPCListener(
        .tcp(host: "127.0.0.1", port: 0),
        front: HTTPFront(webhook, limits: .webhook(sharing: 4_096)),
        identity: .apple),
    ]
    try await ServiceBench.run(limits: limits, access: access, listeners: listeners) { bench in
      signers.withLock { $0 = bench.knowsSigner }
      try await body(
        HTTPBench(
          service: bench, front: front, api: bench.addresses[2], webhook: bench.addresses[3]))
    }
  }

  /// Calls a method on a new connection.
  func post(
    _ service: String, _ method: String, _ body: [UInt8], type: String = "application/json",
    _ fields: [(String, String)] = []
  ) throws -> HTTPSocket.Response {
    let socket = try HTTPSocket(api)
    try socket.request("POST", "/\(service)/\(method)", [("content-type", type)] + fields, body)
    return try socket.response()
  }

  func get(_ path: String, _ fields: [(String, String)] = []) throws -> HTTPSocket.Response {
    let socket = try HTTPSocket(api)
    try socket.request("GET", path, fields)
    return try socket.response()
  }

  func description(_ name: String, _ service: String) -> MethodDescription? {
    WireMethods.all.first { $0.name == name && $0.service == service }
  }
}

extension HTTPSocket.Response {
  /// The text of a member of the JSON object in the body; nil if there is none.
  func member(_ name: StaticString) -> String? {
    guard let document = try? JSONDocument(body),
      let index = document.value(of: name, inObjectAt: 0), document.nodes[index].kind == .string
    else { return nil }
    return document.text(ofStringAt: index)
  }
}

/// The body of a request of a stream: one message.
func enveloped(_ message: [UInt8], flags: UInt8 = 0) -> [UInt8] {
  let length = UInt32(message.count)
  return [flags] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + message
}

extension HTTPSocket {
  convenience init(_ address: ServerAddress, receiveBuffer: CInt? = nil) throws {
    let port: UInt16 = if case .tcp(_, let port) = address { port } else { 0 }
    try self.init(port: port, receiveBuffer: receiveBuffer)
  }
}
