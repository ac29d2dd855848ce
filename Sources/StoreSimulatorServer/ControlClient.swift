import AsyncHTTPClient
import NIOCore
import NIOHTTP1
package import StoreSimulator

/// Calls the control interface of a running simulator.
package struct ControlClient: Sendable {
  package enum Failure: Error, Sendable {
    /// The simulator could not be reached, or did not answer.
    case unreachable(String)
    /// The simulator refused, with its reason.
    case refused(status: Int, String)
  }

  /// Bytes of an answer: a thousand customers.
  private static let answerLength = 64 << 20
  /// An advance of the clock answers within a minute.
  private static let patience = TimeAmount.seconds(120)

  private let base: String

  /// - Parameter base: such as `http://127.0.0.1:7190`.
  package init(base: String) {
    self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
  }

  /// - Parameter path: what follows `/control/`.
  /// - Returns: the JSON of the answer.
  package func call(
    _ method: String, _ path: String, _ body: JSONObjectWriter? = nil
  ) async throws(Failure) -> [UInt8] {
    var request = HTTPClientRequest(url: "\(base)/control/\(path)")
    request.method = HTTPMethod(rawValue: method)
    if let body {
      request.headers.add(name: "content-type", value: "application/json")
      request.body = .bytes(ByteBuffer(bytes: body.bytes))
    }
    var configuration = HTTPClient.Configuration(proxy: nil)
    // A simulator that does not run is told of at once.
    configuration.connectionPool.retryConnectionEstablishment = false
    let client = HTTPClient(
      eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    let status: Int
    let answer: [UInt8]
    do {
      let response = try await client.execute(request, timeout: Self.patience)
      status = Int(response.status.code)
      answer = Array(try await response.body.collect(upTo: Self.answerLength).readableBytesView)
    } catch {
      try? await client.shutdown()
      throw .unreachable("\(base) does not answer: \(error)")
    }
    try? await client.shutdown()
    guard status == 200 else {
      throw .refused(status: status, String(decoding: answer, as: UTF8.self))
    }
    return answer
  }
}
