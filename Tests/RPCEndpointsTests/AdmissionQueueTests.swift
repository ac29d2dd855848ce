import NIOCore
import StoreSimulator
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
    limits.waitingInOverload = 2
    return AdmissionQueue(limits)
  }

  /// One whose places are taken, with these waiting since the start.
  private static func full(_ waiting: String...) -> AdmissionQueue<String> {
    var queue = queue()
    for name in ["x", "y"] + waiting { _ = queue.arrived(name, cost: 1, now: at(0)) }
    return queue
  }

  /// One whose places are taken, where it came to be known at the start that there are too many.
  private static func overloaded() -> AdmissionQueue<String> {
    var queue = queue()
    for name in ["x", "y", "old"] { _ = queue.arrived(name, cost: 1, now: at(-51)) }
    #expect(arrived(&queue, "new", at: 0) == "refused old")
    #expect(ended(&queue, at: 0) == "started new")
    return queue
  }

  private static func outcome(_ outcome: AdmissionQueue<String>.Outcome) -> String {
    [("started", outcome.started), ("refused", outcome.refused)].filter { !$0.1.isEmpty }
      .map { ([$0.0] + $0.1).joined(separator: " ") }.joined(separator: ", ")
  }

  private static func arrived(
    _ queue: inout AdmissionQueue<String>, _ name: String, cost: Int = 1, at time: Int64
  ) -> String {
    outcome(queue.arrived(name, cost: cost, now: at(time)))
  }

  private static func turnsAway(_ queue: inout AdmissionQueue<String>, at time: Int64) -> Bool {
    queue.turnsAway(now: at(time))
  }

  private static func ended(
    _ queue: inout AdmissionQueue<String>, cost: Int = 1, at time: Int64
  ) -> String {
    outcome(queue.ended(cost: cost, now: at(time)))
  }

  @Test("As many begin at once as there are places; who comes then begins in its turn")
  func turns() {
    var queue = Self.queue()
    #expect(Self.arrived(&queue, "a", at: 0) == "started a")
    #expect(Self.arrived(&queue, "b", at: 0) == "started b")
    #expect(Self.arrived(&queue, "c", at: 1) == "")
    #expect(Self.arrived(&queue, "d", at: 2) == "")
    #expect(Self.ended(&queue, at: 3) == "started c")
    #expect(Self.ended(&queue, at: 4) == "started d")
    #expect(Self.ended(&queue, at: 5) == "")
    #expect(Self.arrived(&queue, "e", at: 6) == "started e")
  }

  @Test("One that takes more places waits for all of them, and keeps its turn")
  func cost() {
    var queue = Self.full("small")
    #expect(Self.arrived(&queue, "large", cost: 2, at: 0) == "")
    #expect(Self.arrived(&queue, "last", at: 0) == "")
    #expect(Self.ended(&queue, at: 1) == "started small")
    #expect(Self.ended(&queue, at: 2) == "")
    #expect(Self.ended(&queue, at: 3) == "started large")
    #expect(Self.ended(&queue, cost: 2, at: 4) == "started last")
  }

  @Test("It is known before a call is made whether it would be turned away, and counts")
  func turnsAway() {
    var idle = Self.queue()
    #expect(!Self.turnsAway(&idle, at: 0))
    var queue = Self.full("a")
    #expect(!Self.turnsAway(&queue, at: 50))
    #expect(Self.turnsAway(&queue, at: 51))
    // Now there are too many: who has waited for longer than a moment goes.
    #expect(Self.arrived(&queue, "b", at: 51) == "refused a")
    #expect(!Self.turnsAway(&queue, at: 51))
  }

  @Test("A burst waits, and all of it is answered in its order")
  func burst() {
    var queue = Self.full("a")
    #expect(Self.arrived(&queue, "b", at: 50) == "")
    #expect(Self.ended(&queue, at: 200) == "started a")
    #expect(Self.ended(&queue, at: 201) == "started b")
  }

  @Test(
    "When the first has waited too long, those that have waited go, and who has just come may stay")
  func refusal() {
    var queue = Self.full("a", "b")
    #expect(Self.arrived(&queue, "c", at: 51) == "refused a b")
    #expect(Self.ended(&queue, at: 52) == "started c")
  }

  @Test("Too many for the memory are turned away, however short they have waited")
  func waitingLimit() {
    var queue = Self.queue(waiting: 1)
    for name in ["x", "y", "a"] { _ = queue.arrived(name, cost: 1, now: Self.at(0)) }
    #expect(Self.arrived(&queue, "b", at: 0) == "refused b")
    #expect(Self.turnsAway(&queue, at: 0))
  }

  @Test("Nobody is turned away who fits a free place, though a newer one waits for more of them")
  func besideLarge() {
    var queue = Self.overloaded()
    #expect(Self.arrived(&queue, "small", at: 0) == "")
    #expect(Self.arrived(&queue, "large", cost: 2, at: 0) == "")
    #expect(Self.ended(&queue, at: 1) == "")
    #expect(Self.outcome(queue.advance(Self.at(2))) == "")
    #expect(Self.outcome(queue.advance(Self.at(3))) == "started small, refused large")
  }

  @Test("Once there are too many, the newest begins first")
  func newestFirst() {
    var queue = Self.overloaded()
    #expect(Self.arrived(&queue, "a", at: 1) == "")
    #expect(Self.arrived(&queue, "b", at: 2) == "")
    #expect(Self.ended(&queue, at: 2) == "started b")
    #expect(Self.ended(&queue, at: 3) == "started a")
  }

  @Test(
    "Once there are too many, none waits for longer than a moment, and those that go go together")
  func overload() {
    var queue = Self.overloaded()
    for (name, time) in [("a", 1), ("b", 2), ("c", 3)] as [(String, Int64)] {
      #expect(Self.arrived(&queue, name, at: time) == "")
    }
    // The first has waited 3 ms; with it goes who has waited for more than 1 ms.
    #expect(Self.arrived(&queue, "d", at: 4) == "refused a b")
    #expect(Self.ended(&queue, at: 6) == "started d, refused c")
  }

  @Test("Nobody is turned away while there is a place, however long it has waited")
  func place() {
    var queue = Self.overloaded()
    #expect(Self.arrived(&queue, "a", at: 1) == "")
    #expect(Self.ended(&queue, at: 500) == "started a")
  }

  @Test("Once there are too many, large batches are turned away before others when few wait")
  func largeBatches() {
    var queue = Self.overloaded()
    #expect(!Self.turnsAway(&queue, at: 1))
    _ = queue.arrived("a", cost: 2, now: Self.at(1))
    #expect(Self.turnsAway(&queue, at: 1))
    #expect(Self.arrived(&queue, "b", at: 1) == "")
  }

  @Test("A second after the last refusal, a burst may wait again", arguments: [999, 1_000])
  func recovery(milliseconds: Int64) {
    // The last one was at its start.
    var queue = Self.overloaded()
    #expect(Self.arrived(&queue, "a", at: milliseconds - 5) == "")
    let isOver = milliseconds >= 1_000
    #expect(Self.arrived(&queue, "b", at: milliseconds) == (isOver ? "" : "refused a"))
  }

  @Test(
    "Whatever is made and ends, none is lost, and no more begin than there are places",
    arguments: 0..<20)
  func conservation(seed: UInt64) {
    var generator = SeededGenerator(seed: seed, label: "admission")
    var limits = ReadAdmissionLimits(places: 4)
    limits.waiting = 10
    var queue = AdmissionQueue<Int>(limits)
    var costs: [Int] = []
    var underWay: [Int] = []
    var decided: Set<Int> = []
    var now = Self.start
    func note(_ outcome: AdmissionQueue<Int>.Outcome) {
      underWay += outcome.started
      for call in outcome.started + outcome.refused {
        let isNew = decided.insert(call).inserted
        #expect(isNew)
      }
      #expect(underWay.reduce(0) { $0 + costs[$1] } <= limits.places)
    }
    for _ in 0..<2_000 {
      now = now + .microseconds(Int64(generator.number(below: 2_000)))
      if generator.number(below: 3) > 0 {
        costs.append(1 + generator.number(below: limits.places))
        note(queue.arrived(costs.count - 1, cost: costs[costs.count - 1], now: now))
      } else if !underWay.isEmpty {
        let call = underWay.remove(at: generator.number(below: underWay.count))
        note(queue.ended(cost: costs[call], now: now))
      }
      #expect(costs.count - decided.count <= limits.waiting)
    }
    while let call = underWay.popLast() { note(queue.ended(cost: costs[call], now: now)) }
    #expect(decided.count == costs.count)
  }
}
