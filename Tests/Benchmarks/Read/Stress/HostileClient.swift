import AccessControl
import ArgumentParser
import Foundation
import Framing
import Glibc
import StoreSimulator
import Synchronization
import Wire

/// A hostile client on its own thread. When the server closes its connection, it connects again at
/// once.
final class HostileClient: Sendable {
  enum Manner: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// Sends bytes that are no frames.
    case noise
    /// Sends frames with unreadable content.
    case garbage
    /// Announces more bytes than a frame may have.
    case endless
    /// Sends frames of 4 MiB, one after the other.
    case huge
    /// Sends a byte every few milliseconds.
    case slow
    /// Sends half a frame, and then nothing.
    case half
    /// Sends nothing.
    case silent
    /// Makes calls, and reads no answers.
    case deaf
    /// Makes one call and closes, again and again.
    case fickle
    /// Sends half a frame and closes, a few hundred times a second.
    case broken
    /// Tries tokens, one after the other.
    case guessing
    /// Holds hundreds of connections, and makes calls without a credential on them, in turn, as fast
    /// as it can.
    case stranger

    /// The kinds that cost by the connections that they open, not by the bytes that they send.
    static let storms: [Manner] = [.fickle, .broken]
    /// The kinds that need a server with access control.
    static let unknown: [Manner] = [.guessing, .stranger]
    static let senders = allCases.filter { !storms.contains($0) && !unknown.contains($0) }
  }

  private struct State {
    var connection: RawConnection?
    var isStopped = false
  }

  private let manner: Manner
  private let address: ServerAddress
  private let seed: UInt64
  private let call: [UInt8]
  /// The same call with tokens that no server knows.
  private let guesses: [[UInt8]]
  private let state = Mutex(State())
  private let ended = DispatchSemaphore(value: 0)
  private let opened = Atomic<Int>(0)

  /// Between the bytes of a slow client, and between the connections of a broken one, in
  /// microseconds.
  private static let pause: UInt32 = 5_000
  private static let guessedTokens = 1_000
  /// The connections of a stranger.
  static let held = 500

  init(_ manner: Manner, to address: ServerAddress, seed: UInt64) throws {
    self.manner = manner
    self.address = address
    self.seed = seed
    call = try CustomerCalls.firstFrame()
    guesses =
      manner == .guessing
      ? try (0..<Self.guessedTokens).map { _ in try CustomerCalls.firstFrame(AccessToken()) } : []
    let thread = Thread { self.run() }
    thread.name = "hostile"
    thread.start()
  }

  /// The number of connections it has made.
  var connections: Int { opened.load(ordering: .relaxed) }

  /// Stops the client and waits for its thread.
  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.connection?.shutDown()
    }
    ended.wait()
  }

  private func run() {
    var generator = SeededGenerator(seed: seed, label: "hostile")
    if manner == .stranger {
      callOnMany()
      ended.signal()
      return
    }
    while let connection = open() {
      while act(on: connection, &generator), !state.withLock({ $0.isStopped }) {}
    }
    ended.signal()
  }

  /// Nil when the client is to stop.
  private func open() -> RawConnection? {
    while true {
      let connection = try? RawConnection(to: address, patience: 3_600)
      let isStopped = state.withLock { state in
        state.connection = connection
        return state.isStopped
      }
      if isStopped { return nil }
      guard let connection else { continue }
      opened.add(1, ordering: .relaxed)
      return connection
    }
  }

  /// - Returns: whether the connection can be used further.
  private func act(on connection: RawConnection, _ generator: inout SeededGenerator) -> Bool {
    switch manner {
    case .noise:
      return connection.send([0xff] + generator.bytes(4_095)) && connection.receive() > 0
    case .garbage:
      let data = generator.bytes(1_000)
      return connection.send(CustomerCalls.frame(length: UInt32(data.count), data: data))
        && connection.receive() > 0
    case .endless:
      return connection.send(CustomerCalls.frame(length: 1 << 30, data: []))
        && connection.receive() > 0
    case .huge:
      let length = RPCLimits.maximumFrameData
      let data = [UInt8](repeating: 0xff, count: length)
      return connection.send(CustomerCalls.frame(length: UInt32(length), data: data))
        && connection.receive() > 0
    case .slow:
      for byte in call {
        guard connection.send([byte]) else { return false }
        usleep(Self.pause)
      }
      return connection.receive() > 0
    case .half:
      return connection.send(Array(call.prefix(call.count / 2))) && waitForEnd(of: connection)
    case .silent:
      return waitForEnd(of: connection)
    case .deaf:
      return connection.send(call)
    case .fickle:
      connection.send(call)
      _ = connection.receive()
      return false
    case .broken:
      connection.send(Array(call.prefix(call.count / 2)))
      usleep(Self.pause)
      return false
    case .guessing:
      return connection.send(guesses[generator.number(below: guesses.count)])
        && connection.receive() > 0
    case .stranger:
      return connection.send(call) && connection.receive() > 0
    }
  }

  /// Calls on ``held`` connections in turn, and replaces those that the server closes.
  private func callOnMany() {
    var connections = [RawConnection?](repeating: nil, count: Self.held)
    var next = 0
    while !state.withLock({ $0.isStopped }) {
      if connections[next] == nil {
        connections[next] = try? RawConnection(to: address, patience: 1)
        opened.add(1, ordering: .relaxed)
      }
      // It does not wait for answers: the server may let them wait.
      if let connection = connections[next], !connection.send(call) { connections[next] = nil }
      next = (next + 1) % connections.count
    }
  }

  private func waitForEnd(of connection: RawConnection) -> Bool {
    while connection.receive() > 0 {}
    return false
  }
}
