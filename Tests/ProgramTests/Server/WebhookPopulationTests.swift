import EntitlementDomain
import Foundation
import Framing
import RPCClient
import StoreSimulator
import Synchronization
import TestSupport
import Testing
import Wire

/// What the App Store posts arrives in any order, more than once, and while servers end; what is
/// answered with 200 is stored, and the rest is posted again.
@Suite("Notifications of a whole population", .timeLimit(.minutes(5)))
struct WebhookPopulationTests {
  private static let json = [("content-type", "application/json")]
  private static let connections = 4

  @Test("Posted in random order, repeated, while the server is killed: the states of ordered calls")
  func population() async throws {
    var random = SeededRandom(for: "WebhookPopulationTests")
    let bench = try Bench()
    let population = Bench.population(3 * LifeCycle.allCases.count)
    var notifications: [String] = []
    var chains: Set<String> = []
    for customer in population.customers {
      let events = customer.timeline.history(until: population.now)
      notifications += try bench.authority.sign(events).compactMap(\.notification)
      for event in events where event.notification != nil {
        chains.formUnion(event.transactions.map(\.originalTransactionID.rawValue))
      }
    }

    let ordered = try await bench.startServer(
      "--store", "sqlite:\(bench.folder.file("ordered.sqlite"))", "--http-listen", "127.0.0.1:0",
      listeners: 2)
    let client = try await ordered.client()
    for notification in notifications {
      let response = try await client.submitNotification(
        SubmitNotificationRequest(signedPayload: notification))
      #expect(response.verdict == .ok)
    }
    await client.close()
    let expected = try states(of: chains, on: ordered)
    #expect(try await ordered.stop() == .code(0))

    var left = (notifications + notifications.filter { _ in Bool.random(using: &random) })
      .shuffled(using: &random)
    for round in 0..<3 {
      let server = try await bench.startServer(
        "--http-listen", "127.0.0.1:0", "--webhook-listen", "127.0.0.1:0", listeners: 3)
      let isLast = round == 2
      let answersBeforeKill =
        isLast ? .max : Int.random(in: left.count / 8...left.count / 3, using: &random)
      let outcome = try await post(left, to: server, answersBeforeKill: answersBeforeKill)
      left =
        outcome.left + outcome.answered.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
      left.shuffle(using: &random)
      if isLast {
        #expect(outcome.left == [])
        #expect(try states(of: chains, on: server) == expected)
        #expect(try await server.stop() == .code(0))
      } else {
        #expect(try await server.exit() == .signal(SIGKILL))
        #expect(outcome.answered.count >= answersBeforeKill)
      }
    }
  }

  private struct Posting {
    /// What no connection has begun to post.
    var waiting: [String]
    var unanswered: [String] = []
    var answered: [String] = []
  }

  /// Posts on several connections at once, and kills the server at an answer.
  ///
  /// - Returns: what was answered with 200, and what is left.
  private func post(
    _ notifications: [String], to server: RunningServer, answersBeforeKill: Int
  ) async throws -> (answered: [String], left: [String]) {
    guard case .tcp(_, let port)? = server.webhookAddresses.first else {
      throw HarnessFailure("no address")
    }
    let posting = Mutex(Posting(waiting: notifications))
    DispatchQueue.concurrentPerform(iterations: Self.connections) { _ in
      guard let socket = try? HTTPSocket(port: port) else { return }
      while let notification = posting.withLock({ $0.waiting.popLast() }) {
        let response = try? Self.post(notification, on: socket)
        let count = posting.withLock { state in
          if response?.status == 200 {
            state.answered.append(notification)
          } else {
            state.unanswered.append(notification)
          }
          return state.answered.count
        }
        guard let response else { return }
        #expect(response.status == 200, "\(response.text)")
        if count == answersBeforeKill { server.signal(SIGKILL) }
      }
    }
    return posting.withLock { ($0.answered, $0.waiting + $0.unanswered) }
  }

  private static func post(
    _ notification: String, on socket: HTTPSocket
  ) throws -> HTTPSocket.Response {
    try socket.request(
      "POST", "/apple/notifications", json, Array("{\"signedPayload\":\"\(notification)\"}".utf8))
    return try socket.response()
  }

  /// The states of chains by HTTP, without what depends on the order of calls and on the time.
  private func states(
    of chains: Set<String>, on server: RunningServer
  ) throws -> [String: JSONTree] {
    guard case .tcp(_, let port)? = server.httpAddresses.first else {
      throw HarnessFailure("no address")
    }
    let socket = try HTTPSocket(port: port)
    var states: [String: JSONTree] = [:]
    for chain in chains {
      try socket.request(
        "POST", "/entitle.v1.EntitlementService/GetCustomerState", Self.json,
        Array(
          """
          {"customer":{"originalTransactionId":"\(chain)"},"bundleId":"\(SimulatedApp.bundleID)"}
          """.utf8))
      let response = try socket.response()
      #expect(response.status == 200, "\(response.text)")
      let answer = try JSONDecoder().decode(JSONTree.self, from: Data(response.body))
      states[chain] = answer["state"]?.without("revision").without("evaluatedAtMs")
    }
    return states
  }
}
