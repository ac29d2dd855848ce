import NIOCore

/// The state machine of a pool: which connection takes the next call, which connections to open,
/// and which calls wait. It has no I/O and no clock: the pool reports events and performs the
/// actions.
///
/// There is one slot for each possible connection. The first call fills the first slot of each
/// address, so that the load spreads over all servers. The other slots are filled while the open
/// connections are busy. A slot that lost its connection is filled again by the next call. After a
/// failed attempt to connect, or a connection that ended without an answer, a slot pauses first.
struct ConnectionPoolState<Connection: Sendable>: Sendable {
  typealias WaiterID = UInt64

  struct Lease: Sendable {
    let connection: Connection
    let member: MemberID
    /// Index of the server's address.
    let address: Int
  }

  struct MemberID: Hashable, Sendable {
    let rawValue: UInt64
  }

  enum Action: Sendable {
    case connect(slot: Int, address: Int)
    /// Call ``pauseEnded(slot:)`` after a pause that grows with the failures.
    case pause(slot: Int, failures: Int)
    case close(Connection)
    case resume(WaiterID, Result<Lease, RPCClientError>)
    /// The pool is closing, and its last call has ended.
    case drained
  }

  enum Decision: Sendable {
    case use(Lease)
    case wait
    case refuse(RPCClientError)
  }

  /// How a call ended, as far as it concerns the connection.
  enum Outcome: Hashable, Sendable {
    /// The server answered.
    case answered
    /// The deadline passed without an answer.
    case silent
    /// The caller cancelled the call.
    case givenUp
    /// The server is about to stop.
    case draining
    /// The connection is closed. ``connectionClosed(_:now:_:)`` may report it later.
    case closed
    /// No request was sent over the connection.
    case unknown
  }

  struct Slot: Sendable {
    enum Phase: Sendable {
      case empty
      case connecting
      case open(MemberID)
      /// Waits after a failure.
      case pausing
    }

    let address: Int
    var phase = Phase.empty
    /// Consecutive failures.
    var failures = 0

    var isConnecting: Bool {
      if case .connecting = phase { true } else { false }
    }
  }

  struct Member: Sendable {
    let connection: Connection
    let slot: Int
    var calls = 0
    /// Calls since its last answer whose deadline passed without one.
    var silentCalls = 0
    /// Calls since its last answer that their callers cancelled.
    var givenUpCalls = 0
    var unansweredTime = UnansweredTime()
    var hasAnswered = false
    /// The connection gets no more calls, and is closed after its last one.
    var isLeaving = false

    mutating func callStarted(at now: NIODeadline) {
      calls += 1
      unansweredTime.callStarted(at: now)
    }

    mutating func callEnded(at now: NIODeadline) {
      calls -= 1
      if calls == 0 { unansweredTime.lastCallEnded(at: now) }
    }

    mutating func answered(at now: NIODeadline) {
      silentCalls = 0
      givenUpCalls = 0
      unansweredTime.answered(at: now)
      hasAnswered = true
    }
  }

  let limits: ConnectionPoolLimits
  let addressCount: Int
  var slots: [Slot]
  var members: [MemberID: Member] = [:]
  var waiters = CircularBuffer<WaiterID>()
  var nextMember: UInt64 = 0
  /// The slot where the search for the least busy connection begins, so that equally busy
  /// connections take turns.
  var turn = 0
  /// The start of the current outage; nil while there is a connection.
  var downSince: NIODeadline?
  /// The error of the last failed attempt to connect.
  var lastFailure = RPCClientError(.unreachable, "no connection could be made in time")
  var isClosing = false
  /// Calls in flight on all members.
  var calls = 0

  init(addressCount: Int, limits: ConnectionPoolLimits) {
    self.limits = limits
    self.addressCount = addressCount
    slots = (0..<addressCount * limits.connectionsPerAddress).map {
      Slot(address: $0 % addressCount)
    }
  }
}

/// The time for which a connection with calls in flight has given no answer. It stands still while
/// no call is in flight.
struct UnansweredTime: Sendable {
  private var passed = TimeAmount.zero
  /// When the current interval began; nil while no call is in flight.
  private var since: NIODeadline?

  func total(at now: NIODeadline) -> TimeAmount {
    passed + (since.map { now - $0 } ?? .zero)
  }

  mutating func callStarted(at now: NIODeadline) {
    since = since ?? now
  }

  mutating func answered(at now: NIODeadline) {
    passed = .zero
    since = now
  }

  mutating func lastCallEnded(at now: NIODeadline) {
    passed = total(at: now)
    since = nil
  }
}
