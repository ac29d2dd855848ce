import AccessControl
import Framing
import NIOCore
import Synchronization
import Wire

/// The memory of all connections together, in bytes: what was received and is not complete, calls in
/// flight, and output that clients have not read.
///
/// Each connection may hold as much as is still free (the dynamic threshold of Choudhury and Hahne
/// for switches with shared memory, with a factor of one). So one connection may hold half of the
/// budget, and the share of each shrinks as more connections want one; some memory is always free
/// for the next connection. ``RPCLimits/guaranteedMemory`` is allowed in any case.
///
/// Calls give their memory back when their work ends. Incomplete requests and unread output wait for
/// clients, possibly for ever. While they take most of the used memory and a connection lacks some,
/// the largest connection loses its own: see ``reclaim(now:)``.
final class MemoryBudget: Sendable {
  private struct State {
    /// Connections that have counted output or incomplete requests since they opened.
    var connections: [UInt64: Entry] = [:]
    var nextReclaim = NIODeadline.distantPast
  }

  private struct Entry {
    let memory: ConnectionMemory
    let giveUp: @Sendable () -> Void
  }

  /// The shortest time between two connections that lose their memory: enough for the first to
  /// have given it back.
  private static let reclaimInterval = TimeAmount.milliseconds(10)

  let capacity: Int
  private let used = Atomic(0)
  /// The part of ``used`` that waits for clients.
  private let waiting = Atomic(0)
  private let state = Mutex(State())

  init(capacity: Int) {
    self.capacity = capacity
  }

  /// Bytes in use.
  var bytesInUse: Int {
    used.load(ordering: .relaxed)
  }

  /// How much each connection may hold now.
  var share: Int {
    max(RPCLimits.guaranteedMemory, capacity - bytesInUse)
  }

  fileprivate func add(_ bytes: Int) {
    used.add(bytes, ordering: .relaxed)
  }

  fileprivate func addWaiting(_ bytes: Int) {
    used.add(bytes, ordering: .relaxed)
    waiting.add(bytes, ordering: .relaxed)
  }

  /// Makes a connection known to ``reclaim(now:)``.
  ///
  /// - Parameter giveUp: Makes the connection give up what waits for its client. Called on any
  ///   thread.
  func register(_ memory: ConnectionMemory, id: UInt64, giveUp: @escaping @Sendable () -> Void) {
    state.withLock { $0.connections[id] = Entry(memory: memory, giveUp: giveUp) }
  }

  func remove(id: UInt64) {
    state.withLock { _ = $0.connections.removeValue(forKey: id) }
  }

  /// A connection lacks memory. If most of the used memory waits for clients, the connection for
  /// whose client most of it waits must give it up. If most of it is for calls in flight, it
  /// becomes free without that.
  func reclaim(now: NIODeadline) {
    guard waiting.load(ordering: .relaxed) > bytesInUse / 2 else {
      return
    }
    let largest = state.withLock { state -> Entry? in
      guard now >= state.nextReclaim else {
        return nil
      }
      state.nextReclaim = now + Self.reclaimInterval
      return state.connections.values.max { $0.memory.waitingBytes < $1.memory.waitingBytes }
    }
    largest?.giveUp()
  }
}

/// The memory of one connection.
final class ConnectionMemory: Sendable {
  private let budget: MemoryBudget
  private let calls = Atomic(0)
  private let waiting = Atomic(0)
  /// The part of ``waiting`` that the budget counts.
  private let budgeted = Atomic(0)

  init(_ budget: MemoryBudget) {
    self.budget = budget
  }

  /// What waits for the client, as last counted.
  var waitingBytes: Int {
    waiting.load(ordering: .relaxed)
  }

  private var held: Int {
    calls.load(ordering: .relaxed) + waitingBytes
  }

  /// Whether the connection holds more than its share.
  var isOverShare: Bool {
    let held = held
    // The first comparison needs no access to memory of other threads.
    return held > RPCLimits.guaranteedMemory && held > budget.share
  }

  /// How much more the connection may hold; negative if it holds more than its share.
  var room: Int {
    budget.share - held
  }

  /// Counts what waits for the client. Called on the connection's event loop.
  ///
  /// - Parameter inBudget: Whether the budget counts it, and not ``UnknownMemory``.
  func setWaiting(_ bytes: Int, inBudget: Bool) {
    waiting.store(bytes, ordering: .relaxed)
    let part = inBudget ? bytes : 0
    budget.addWaiting(part - budgeted.exchange(part, ordering: .relaxed))
  }

  /// Counts a call with a request of this length until the result is deallocated. Nil if it does
  /// not fit.
  ///
  /// - Parameter inFlight: ends with the memory.
  func count(requestLength: Int, inFlight: InFlightCall? = nil) -> CallMemory? {
    let bytes = RPCLimits.memoryPerCall + requestLength * RPCLimits.memoryPerRequestByte
    guard held + bytes <= RPCLimits.guaranteedMemory || bytes <= room else {
      return nil
    }
    calls.add(bytes, ordering: .relaxed)
    budget.add(bytes)
    return CallMemory(self, bytes, inFlight)
  }

  fileprivate func release(_ bytes: Int) {
    calls.subtract(bytes, ordering: .relaxed)
    budget.add(-bytes)
  }
}

/// The memory of one call, until the last reference to it is gone. Its work may end later than the
/// call, as when the deadline passes while the store is committing.
final class CallMemory: Sendable {
  private let connection: ConnectionMemory
  private let bytes: Int
  /// Counts the call for its caller; nil without access control.
  private let inFlight: InFlightCall?

  fileprivate init(_ connection: ConnectionMemory, _ bytes: Int, _ inFlight: InFlightCall?) {
    self.connection = connection
    self.bytes = bytes
    self.inFlight = inFlight
  }

  deinit {
    connection.release(bytes)
  }
}

/// The memory of connections that no known caller has used, in bytes: requests that are not complete.
/// Anybody can open many of these, so they have a small part of their own, and known callers lack nothing
/// for them.
///
/// The credential of a call is behind its message, so the first request of a known caller is received here
/// too. An honest client sends its request at once. So nobody is refused: when the part is used up, the
/// connections whose requests have been incomplete for longest are closed.
final class UnknownMemory: Sendable {
  private struct Entry {
    var bytes: Int
    /// Grows with the moment at which the connection began to hold something.
    let number: UInt64
    let giveUp: @Sendable () -> Void
  }

  private struct State {
    var used = 0
    var lastNumber: UInt64 = 0
    /// At most as many as hold ``RPCLimits/guaranteedMemory`` each.
    var entries: [UInt64: Entry] = [:]

    mutating func count(
      _ bytes: Int, of connection: UInt64, _ giveUp: @escaping @Sendable () -> Void
    ) {
      let former = entries.removeValue(forKey: connection)
      used += bytes - (former?.bytes ?? 0)
      guard bytes > 0 else { return }
      if former == nil { lastNumber += 1 }
      entries[connection] = Entry(
        bytes: bytes, number: former?.number ?? lastNumber, giveUp: giveUp)
    }

    mutating func takeOldest() -> Entry? {
      guard let oldest = entries.min(by: { $0.value.number < $1.value.number }) else { return nil }
      entries[oldest.key] = nil
      used -= oldest.value.bytes
      return oldest.value
    }
  }

  let capacity: Int
  private let state = Mutex(State())

  init(capacity: Int) {
    self.capacity = capacity
  }

  var bytesInUse: Int { state.withLock(\.used) }

  /// Counts what a connection holds.
  ///
  /// - Parameters:
  ///   - bytes: 0: nothing, or a known caller has used it.
  ///   - giveUp: Closes the connection. Called on any thread.
  func set(_ bytes: Int, of connection: UInt64, giveUp: @escaping @Sendable () -> Void) {
    let closed = state.withLock { state in
      state.count(bytes, of: connection, giveUp)
      var closed: [Entry] = []
      while state.used > capacity, let oldest = state.takeOldest() { closed.append(oldest) }
      return closed
    }
    for entry in closed { entry.giveUp() }
  }

  func remove(_ connection: UInt64) {
    state.withLock { $0.count(0, of: connection) {} }
  }
}
