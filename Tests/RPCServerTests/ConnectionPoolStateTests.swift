import NIOCore
import Testing

@testable import RPCClient

/// Transcripts: connections are named by strings.
@Suite("ConnectionPoolState")
struct ConnectionPoolStateTests {
  private typealias State = ConnectionPoolState<String>

  private static func state(
    servers: Int = 1, each: Int = 1, calls: Int = 2, waiting: Int = 2
  ) -> PoolTranscript {
    PoolTranscript(
      addressCount: servers,
      limits: ConnectionPoolLimits(
        connectionsPerAddress: each, callsPerConnection: calls, waitingCalls: waiting,
        waitingTime: .seconds(1), busyCalls: 1))
  }

  @Test("The first call has every server connected to, and goes to the first that is")
  func first() {
    var pool = Self.state(servers: 2)
    #expect(pool.call(1) == "wait; connect 0 at 0; connect 1 at 1")
    #expect(pool.connected(1, "b") == "1 gets b")
    #expect(pool.connected(0, "a") == "")
    #expect(pool.call(2) == "a")
    #expect(Set([pool.call(3), pool.call(4)]) == ["a", "b"])
  }

  @Test("The least busy connection takes the next call, and equally busy ones take turns")
  func spread() {
    var pool = Self.state(servers: 3, calls: 100)
    _ = pool.call(0)
    for (slot, name) in ["a", "b", "c"].enumerated() { _ = pool.connected(slot, name) }
    _ = pool.end("a")
    var counts: [String: Int] = [:]
    for call: UInt64 in 1...30 {
      let name = pool.call(call)
      counts[name, default: 0] += 1
      // At most one in flight.
      #expect(pool.end(name) == "")
    }
    #expect(counts == ["a": 10, "b": 10, "c": 10])
    for call: UInt64 in 1...30 { _ = pool.call(call) }
    #expect(pool.inFlight == ["a": 10, "b": 10, "c": 10])
  }

  @Test("A second connection to a server is made when the first is busy")
  func growth() {
    var pool = Self.state(each: 2)
    #expect(pool.call(1) == "wait; connect 0 at 0")
    #expect(pool.connected(0, "a") == "1 gets a")
    #expect(pool.call(2) == "a; connect 1 at 0")
    #expect(pool.connected(1, "b") == "")
    #expect(pool.call(3) == "b")
  }

  @Test("What finds no room waits in order, and only so many")
  func waiting() {
    var pool = Self.state()
    _ = pool.call(1)
    #expect(pool.connected(0, "a") == "1 gets a")
    #expect(pool.call(2) == "a")
    #expect(pool.call(3) == "wait")
    #expect(pool.call(4) == "wait")
    #expect(
      pool.call(5) == "RESOURCE_EXHAUSTED: 2 calls of this client already wait for a connection")
    #expect(pool.end("a") == "3 gets a")
    #expect(
      pool.waitEnded(4)
        == "RESOURCE_EXHAUSTED: every connection of this client was full for 1.0 seconds")
    #expect(pool.waitEnded(4) == nil)
    #expect(pool.end("a") == "")
    #expect(pool.call(6) == "a")
  }

  @Test("While no server can be reached calls wait, and later fail at once")
  func outage() {
    var pool = Self.state(servers: 2)
    _ = pool.call(1)
    #expect(pool.failed(0, "no", at: 0) == "pause 0 after 1")
    #expect(pool.failed(1, "no", at: 0) == "pause 1 after 1")
    #expect(pool.call(2, at: 900) == "wait")
    #expect(pool.pauseEnded(0) == "connect 0 at 0")
    #expect(
      pool.failed(0, "still not", at: 1000)
        == "pause 0 after 2; 1 fails: unreachable: still not; 2 fails: unreachable: still not")
    #expect(pool.call(3, at: 1100) == "unreachable: still not")
    // Nobody waits: it is for the next call to ask.
    #expect(pool.pauseEnded(1) == "")
    #expect(pool.call(4, at: 1200) == "wait; connect 1 at 1")
    #expect(pool.connected(1, "b") == "4 gets b")
    #expect(pool.end("b") == "")
    #expect(pool.closed("b", at: 2000) == "")
    #expect(pool.call(5, at: 2000) == "wait; connect 1 at 1")
    #expect(pool.failed(1, "again", at: 2000) == "pause 1 after 1")
    #expect(pool.waitEnded(5) == "unreachable: again")
  }

  @Test("A server that is about to stop is left, and its calls end first")
  func draining() {
    var pool = Self.state(servers: 2)
    _ = pool.call(1)
    _ = pool.connected(0, "a")
    _ = pool.connected(1, "b")
    #expect(Set([pool.call(2), pool.call(3), pool.call(4)]) == ["a", "b"])
    #expect(pool.end("a", .draining) == "pause 0 after 1")
    #expect(pool.end("b") == "")
    #expect(pool.call(5) == "b")
    #expect(pool.call(6) == "wait")
    #expect(pool.end("a") == "close a")
    #expect(pool.closed("a", at: 0) == "")
    #expect(pool.end("b") == "6 gets b")
  }

  @Test("A connection on which deadlines pass in a row is left; an answer in between counts")
  func silent() {
    var pool = Self.state(calls: 10)
    _ = pool.call(0)
    _ = pool.connected(0, "a")
    for call: UInt64 in 1...6 { _ = pool.call(call) }
    #expect(pool.end("a", .silent) == "")
    #expect(pool.end("a", .silent) == "")
    #expect(pool.end("a", .answered) == "")
    #expect(pool.end("a", .silent) == "")
    #expect(pool.end("a", .silent) == "")
    #expect(pool.end("a", .silent) == "pause 0 after 1")
    #expect(pool.end("a", .silent) == "close a")
  }

  @Test("A connection on which many calls in a row are given up is left after a second")
  func givenUp() {
    var pool = Self.state(calls: 1_000)
    _ = pool.call(0)
    _ = pool.connected(0, "a")
    for call: UInt64 in 1...199 { _ = pool.call(call) }
    for _ in 1...99 { #expect(pool.end("a", .givenUp, at: 5_000) == "") }
    #expect(pool.end("a", .answered, at: 5_000) == "")
    for _ in 1...98 { #expect(pool.end("a", .givenUp, at: 6_000) == "") }
    #expect(pool.end("a", .unknown, at: 6_000) == "")
    #expect(pool.call(200, at: 6_000) == "a")
    #expect(pool.end("a", .givenUp, at: 6_000) == "")
    #expect(pool.end("a", .givenUp, at: 6_000) == "pause 0 after 1; close a")
  }

  @Test("However many calls are given up at once, a server that had no time to answer is not left")
  func givenUpAtOnce() {
    var pool = Self.state(calls: 1_000)
    _ = pool.call(0)
    _ = pool.connected(0, "a")
    for call: UInt64 in 1...999 { _ = pool.call(call) }
    for _ in 1...1_000 { #expect(pool.end("a", .givenUp, at: 999) == "") }
    // Nothing was in flight for an hour, so that no answer was owed.
    #expect(pool.call(1_000, at: 3_600_000) == "a")
    #expect(pool.call(1_001, at: 3_600_000) == "a")
    #expect(pool.end("a", .givenUp, at: 3_600_000) == "")
    #expect(pool.end("a", .givenUp, at: 3_600_001) == "pause 0 after 1; close a")
  }

  @Test("An answer that another call had in the last second keeps a connection")
  func answeredMeanwhile() {
    var pool = Self.state(calls: 1_000)
    _ = pool.call(0)
    _ = pool.connected(0, "a")
    for call: UInt64 in 1...201 { _ = pool.call(call) }
    #expect(pool.end("a", .answered, at: 5_000) == "")
    for _ in 1...200 { #expect(pool.end("a", .givenUp, at: 5_999) == "") }
    #expect(pool.end("a", .givenUp, at: 6_000) == "pause 0 after 1; close a")
  }

  @Test("A call that finds its connection closed tells so first")
  func foundClosed() {
    var pool = Self.state(servers: 2)
    _ = pool.call(1)
    _ = pool.connected(0, "a")
    _ = pool.connected(1, "b")
    #expect(Set([pool.call(2), pool.call(3)]) == ["a", "b"])
    #expect(pool.end("a", .closed) == "pause 0 after 1")
    #expect(pool.call(4) == "b")
    #expect(pool.closed("a", at: 0) == "")
    #expect(pool.end("b") == "")
    #expect(pool.call(5) == "b")
    #expect(pool.call(6) == "wait")
    #expect(pool.end("b", .closed) == "connect 1 at 1")
    #expect(pool.connected(1, "c") == "6 gets c")
  }

  @Test("Without any address no call waits")
  func addressless() {
    var pool = Self.state(servers: 0)
    #expect(pool.call(1) == "unreachable: the client has no server address")
  }

  @Test("A lost connection is made again by the next call; one that never answered, after a pause")
  func lost() {
    var pool = Self.state()
    _ = pool.call(1)
    _ = pool.connected(0, "a")
    #expect(pool.end("a") == "")
    #expect(pool.closed("a", at: 0) == "")
    #expect(pool.call(2) == "wait; connect 0 at 0")
    #expect(pool.connected(0, "b") == "2 gets b")
    #expect(pool.closed("b", at: 0) == "pause 0 after 1")
    #expect(pool.end("b", .unknown) == "")
    #expect(pool.call(3) == "wait")
    #expect(pool.pauseEnded(0) == "connect 0 at 0")
  }

  @Test("Another attempt goes to another server, else over another connection, else the same way")
  func avoiding() {
    var pool = Self.state(servers: 2, each: 2, calls: 10)
    _ = pool.call(1)
    for (slot, name) in ["a", "b", "a2", "b2"].enumerated() { _ = pool.connected(slot, name) }
    for _ in 0..<4 { #expect(pool.call(2, avoiding: "a").hasPrefix("b")) }
    _ = pool.closed("b", at: 0)
    _ = pool.closed("b2", at: 0)
    #expect(pool.call(3, avoiding: "a").hasPrefix("a2"))
    #expect(pool.other(than: "a").hasPrefix("a2"))
    _ = pool.closed("a2", at: 0)
    #expect(pool.call(4, avoiding: "a").hasPrefix("a"))
    #expect(pool.other(than: "a").hasPrefix("none"))
  }

  @Test("A pool that closes takes no call, and is done with its last one")
  func closing() {
    var pool = Self.state(calls: 1)
    _ = pool.call(1)
    _ = pool.connected(0, "a")
    #expect(pool.call(2) == "wait")
    #expect(pool.close() == "2 fails: the client is closed")
    #expect(pool.call(3) == "the client is closed")
    #expect(pool.end("a") == "drained")
    #expect(pool.closeNow() == "close a")
    #expect(pool.connected(0, "late") == "close late")
    var idle = Self.state()
    #expect(idle.close() == "drained")
  }
}
