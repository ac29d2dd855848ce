import Foundation
import StoreSimulatorServer
import Synchronization
import TestSupport

/// Stands between the App Store and the servers: passes each notification to one of them, and while
/// it is faulty loses, delays and doubles a third of them.
final class NotificationRelay: Sendable {
  private struct State {
    var random: SeededRandom
    var everything: [String] = []
    var lost: [String] = []
    var delayed: [String] = []
    var ports: [UInt16] = []
    var isFaulty = false
    var isHolding = true
    var passed = 0
    var alarm: (at: Int, action: @Sendable () -> Void)?
  }

  private enum Fate {
    case lost, delayed, doubled, passed
  }

  private let state: Mutex<State>
  private let listener: Mutex<StoreListener?>

  private init(_ random: SeededRandom) {
    state = Mutex(State(random: random))
    listener = Mutex(nil)
  }

  static func start(_ random: SeededRandom) async throws -> NotificationRelay {
    let relay = NotificationRelay(random)
    let listener = try await StoreListener.start(host: "127.0.0.1", port: 0) { request in
      await relay.answer(request)
    }
    relay.listener.withLock { $0 = listener }
    return relay
  }

  func stop() async {
    await listener.withLock { $0 }?.stop()
  }

  var url: String {
    "http://127.0.0.1:\(listener.withLock { $0?.port ?? 0 })/apple/notifications"
  }

  /// All notifications that the App Store has posted, in order, each once.
  var everything: [String] { state.withLock { $0.everything } }

  /// The notifications of which no server has heard by this relay.
  var lost: [String] { state.withLock { $0.lost } }

  /// The webhooks of the running servers.
  func pass(to ports: [UInt16]) { state.withLock { $0.ports = ports } }

  /// Passes what came before any server ran, and all that comes from now on.
  func open() async {
    state.withLock { $0.isHolding = false }
    await passDelayed()
  }

  func setFaulty(_ isFaulty: Bool) { state.withLock { $0.isFaulty = isFaulty } }

  /// Calls a function after so many notifications that were passed from now on.
  func after(_ count: Int, _ action: @escaping @Sendable () -> Void) {
    state.withLock { $0.alarm = ($0.passed + count, action) }
  }

  func cancelAlarm() { state.withLock { $0.alarm = nil } }

  /// Passes the delayed notifications, in another order.
  func passDelayed() async {
    let delayed = state.withLock { state in
      let delayed = state.delayed.shuffled(using: &state.random)
      state.delayed = []
      return delayed
    }
    for payload in delayed { _ = await pass(payload) }
  }

  private func answer(_ request: StoreRequest) async -> StoreAnswer {
    guard let payload = (try? JSONTree(parsing: request.body))?["signedPayload"]?.text else {
      return StoreAnswer(status: 400)
    }
    let fate = state.withLock { state in
      state.everything.append(payload)
      if state.isHolding {
        state.delayed.append(payload)
        return Fate.delayed
      }
      guard state.isFaulty else { return .passed }
      switch Int.random(in: 0..<9, using: &state.random) {
      case 0:
        state.lost.append(payload)
        return .lost
      case 1:
        state.delayed.append(payload)
        return .delayed
      case 2: return .doubled
      default: return .passed
      }
    }
    switch fate {
    case .lost, .delayed: return StoreAnswer(status: 200)
    case .doubled:
      _ = await pass(payload)
      return StoreAnswer(status: await pass(payload))
    case .passed: return StoreAnswer(status: await pass(payload))
    }
  }

  /// - Returns: the status of the answer; 502 without one.
  private func pass(_ payload: String) async -> Int {
    let (port, action) = state.withLock { state in
      state.passed += 1
      var action: (@Sendable () -> Void)?
      if let alarm = state.alarm, state.passed >= alarm.at {
        action = alarm.action
        state.alarm = nil
      }
      return (state.ports.randomElement(using: &state.random), action)
    }
    action?()
    guard let port else { return 502 }
    return await withCheckedContinuation { continuation in
      // Sockets of tests block.
      DispatchQueue.global().async {
        continuation.resume(returning: (try? Self.post(payload, to: port)) ?? 502)
      }
    }
  }

  private static func post(_ payload: String, to port: UInt16) throws -> Int {
    let socket = try HTTPSocket(port: port)
    try socket.request(
      "POST", "/apple/notifications", [("content-type", "application/json")],
      Array("{\"signedPayload\":\"\(payload)\"}".utf8))
    return try socket.response().status
  }
}
