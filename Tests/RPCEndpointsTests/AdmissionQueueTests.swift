import NIOCore
import Testing

@testable import RPCEndpoints

@Suite("Which reads begin, wait and are turned away")
struct AdmissionQueueTests {
  private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

  private static func at(_ milliseconds: Int64) -> NIODeadline {
    start + .milliseconds(milliseconds)
  }

  /// Two places; bursts may wait 50 ms, and 2 ms for a second after a refusal.
  private static func queue(waiting: Int = 100) -> AdmissionQueue<String> {
    var limits = ReadAdmissionLimits(places: 2)
    limits.waiting = waiting
    limits.burstPatience = .milliseconds(50)
    limits.overloadPatience = .milliseconds(2)
    limits.overloadMemory = .seconds(1)
    return AdmissionQueue(limits)
  }

  /// One whose places are taken, with these waiting since the start.
  private static func full(_ waiting: String...) -> AdmissionQueue<String> {
    var queue = queue()
    for name in ["x", "y"] + waiting { _ = queue.arrived(name, cost: 1, now: at(0)) }
    return queue
  }

  @Test("As many begin at once as there are places; who comes then begins in its turn")
  func turns() {
    var queue = Self.queue()
    #expect(queue.arrived("a", cost: 1, now: Self.at(0)) == .start)
    #expect(queue.arrived("b", cost: 1, now: Self.at(0)) == .start)
    #expect(queue.arrived("c", cost: 1, now: Self.at(1)) == .wait)
    #expect(queue.arrived("d", cost: 1, now: Self.at(2)) == .wait)
    #expect(queue.ended(cost: 1, now: Self.at(3)).started == ["c"])
    #expect(queue.ended(cost: 1, now: Self.at(4)).started == ["d"])
    #expect(queue.ended(cost: 1, now: Self.at(5)).started == [])
    #expect(queue.arrived("e", cost: 1, now: Self.at(6)) == .start)
  }

  @Test("One that takes more places waits for all of them, and keeps its turn")
  func cost() {
    var queue = Self.full("small")
    #expect(queue.arrived("large", cost: 2, now: Self.at(0)) == .wait)
    #expect(queue.arrived("last", cost: 1, now: Self.at(0)) == .wait)
    #expect(queue.ended(cost: 1, now: Self.at(1)).started == ["small"])
    #expect(queue.ended(cost: 1, now: Self.at(2)).started == [])
    #expect(queue.ended(cost: 1, now: Self.at(3)).started == ["large"])
    #expect(queue.ended(cost: 2, now: Self.at(4)).started == ["last"])
  }

  @Test("It is known before a call is made whether it would be turned away, and counts")
  func turnsAway() {
    func verdict(_ queue: inout AdmissionQueue<String>, at time: Int64) -> Bool {
      queue.turnsAway(now: Self.at(time))
    }
    var idle = Self.queue()
    #expect(verdict(&idle, at: 0) == false)
    var queue = Self.full("a")
    #expect(verdict(&queue, at: 50) == false)
    #expect(verdict(&queue, at: 51) == true)
    // Now there are too many: who has waited for longer than a moment goes.
    #expect(queue.ended(cost: 1, now: Self.at(52)).refused == ["a"])
    #expect(verdict(&queue, at: 52) == false)
  }

  @Test("A burst waits, and all of it is answered")
  func burst() {
    var queue = Self.full("a")
    #expect(queue.arrived("b", cost: 1, now: Self.at(50)) == .wait)
    let outcome = queue.ended(cost: 1, now: Self.at(200))
    #expect(outcome.started == ["a"])
    #expect(outcome.refused == [])
  }

  @Test("When the first has waited too long, others are turned away at once")
  func refusal() {
    var queue = Self.full("a")
    #expect(queue.arrived("b", cost: 1, now: Self.at(51)) == .refuse)
  }

  @Test("Too many for the memory are turned away, however short they have waited")
  func waitingLimit() {
    var queue = Self.queue(waiting: 1)
    for name in ["x", "y", "a"] { _ = queue.arrived(name, cost: 1, now: Self.at(0)) }
    #expect(queue.arrived("b", cost: 1, now: Self.at(0)) == .refuse)
  }

  @Test("Once there are too many, none waits for longer than a moment")
  func overload() {
    var queue = Self.full("a", "b")
    #expect(queue.arrived("c", cost: 1, now: Self.at(51)) == .refuse)
    let outcome = queue.ended(cost: 1, now: Self.at(52))
    #expect(outcome.started == [])
    #expect(outcome.refused == ["a", "b"])
    // The place is free again.
    #expect(queue.arrived("d", cost: 1, now: Self.at(53)) == .start)
    #expect(queue.arrived("e", cost: 1, now: Self.at(54)) == .wait)
    #expect(queue.arrived("f", cost: 1, now: Self.at(56)) == .wait)
    #expect(queue.arrived("g", cost: 1, now: Self.at(57)) == .refuse)
    #expect(queue.ended(cost: 1, now: Self.at(57)).refused == ["e"])
  }

  @Test("A second after the last refusal, a burst may wait again", arguments: [1_050, 1_051])
  func recovery(milliseconds: Int64) {
    var queue = Self.full("a")
    #expect(queue.arrived("b", cost: 1, now: Self.at(51)) == .refuse)
    // At its first moment, 1051 ms, it is over.
    _ = queue.ended(cost: 1, now: Self.at(51))
    #expect(queue.arrived("c", cost: 1, now: Self.at(52)) == .start)
    let first = Self.at(milliseconds - 40)
    #expect(queue.arrived("d", cost: 1, now: first) == .wait)
    let isOver = milliseconds >= 1_051
    #expect(queue.arrived("e", cost: 1, now: Self.at(milliseconds)) == (isOver ? .wait : .refuse))
  }
}
