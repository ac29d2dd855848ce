import NIOCore

/// Which connection takes the next call, which are to be made, and who waits. No I/O and no clock:
/// the pool reports what happened and carries out what is returned.
///
/// There is a slot for each connection that may be. The first of each address is filled with the
/// first call, so that the load spreads over all servers; the others when those that are open are
/// busy. A slot that lost its connection is filled again by the next call; one that could not be
/// filled, or whose connection ended without an answer, only after a pause.
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
    /// Tell ``pauseEnded(slot:)`` after a pause that grows with the failures.
    case pause(slot: Int, failures: Int)
    case close(Connection)
    case resume(WaiterID, Result<Lease, RPCClientError>)
    /// The last call of a pool that is closing has ended.
    case drained
  }

  enum Decision: Sendable {
    case use(Lease)
    case wait
    case refuse(RPCClientError)
  }

  /// What a call says of its connection.
  enum Outcome: Hashable, Sendable {
    /// It answered.
    case answered
    /// The deadline passed, and no answer came.
    case silent
    /// The caller did not wait for an answer.
    case givenUp
    /// The server is about to stop.
    case draining
    /// It is closed, of which ``connectionClosed(_:now:_:)`` may tell only later.
    case closed
    /// Nothing: it was not used.
    case unknown
  }

  struct Slot: Sendable {
    enum Phase: Sendable {
      case empty
      case connecting
      case open(MemberID)
      /// After a failure.
      case pausing
    }

    let address: Int
    var phase = Phase.empty
    /// In a row.
    var failures = 0

    var isConnecting: Bool {
      if case .connecting = phase { true } else { false }
    }
  }

  struct Member: Sendable {
    let connection: Connection
    let slot: Int
    var calls = 0
    /// Calls since its last answer whose deadline passed.
    var silentCalls = 0
    /// Calls since its last answer that their callers gave up.
    var givenUpCalls = 0
    var unansweredTime = UnansweredTime()
    var hasAnswered = false
    /// It has left its slot, and is closed after its last call.
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
  /// Where the search for the least busy begins, so that equally busy ones take turns.
  var turn = 0
  /// Since when there was no connection, as far as is known.
  var downSince: NIODeadline?
  /// Why the last connection could not be made.
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
