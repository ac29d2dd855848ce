import NIOHTTP1
import OutboundHTTP

/// Asks a running `storesim serve` for its time. Plain HTTP or TLS, as its address says.
struct SimulatorClock: Sendable {
  /// Why there is no reading. A sentence for people.
  struct Unreachable: Error {
    let description: String
  }

  /// How long the simulator waits for a change before it answers.
  private static let patience = Duration.seconds(20)
  /// Time of an answer, in addition to ``patience``.
  private static let answerTime = Duration.seconds(3)
  /// Bytes of an answer, which has about 100.
  private static let answerLength = 16_384

  /// Without a slash at its end.
  let address: String

  /// - Parameter revision: Waits for a later one; nil: answered at once.
  func reading(after revision: Int?) async throws(Unreachable) -> ClockReading {
    let wait = revision.map { "?after=\($0)&waitMs=\(Self.patience.components.seconds * 1_000)" }
    let limit = revision == nil ? Self.answerTime : Self.patience + Self.answerTime
    let url = "\(address)/control/clock\(wait ?? "")"
    // A client of its own: a connection is needed for each change of the clock, and a client that
    // outlives the call would have to be shut down.
    let client = OutboundHTTPClient(
      connectionsPerHost: 1, idleTime: limit, responseLength: Self.answerLength)
    let result: Result<OutboundAnswer, OutboundFault>
    do throws(OutboundFault) {
      result = .success(try await client.answer(to: .GET, url, HTTPHeaders(), nil, within: limit))
    } catch {
      result = .failure(error)
    }
    await client.shutDown()
    switch result {
    case .failure(let fault): throw Unreachable(description: "\(fault)")
    case .success(let answer):
      guard answer.status == 200 else {
        throw Unreachable(description: "HTTP status \(answer.status)")
      }
      guard let reading = ClockReading(json: answer.body) else {
        throw Unreachable(description: "the answer is not that of a simulator")
      }
      return reading
    }
  }
}
