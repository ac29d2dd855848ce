import NIOCore
import StoreSimulator
import Testing

@testable import EntitlementService

@Suite("Which reads begin, wait and are refused")
struct ReadLimiterTests {
  private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

  private static func at(_ milliseconds: Int64) -> NIODeadline {
    start + .milliseconds(milliseconds)
  }

  /// Two permits, one customer a batch; bursts may wait 50 ms, and 2 ms for a second after a refusal.
  private static func queue(waiting: Int = 100) -> ReadLimiter<String> {
    var limits = ReadLimits(permits: 2)
    limits.waiting = waiting
    limits.burstPatience = .milliseconds(50)
    limits.overloadPatience = .milliseconds(2)
    limits.overloadMemory = .seconds(1)
    limits.waitingInOverload = 2
    limits.customersPerBatch = 1
    limits.permitsPerRead = 2
    return ReadLimiter(limits)
  }

  /// One whose permits are taken, with these waiting since the start.
  private static func full(_ waiting: String...) -> ReadLimiter<String> {
    var queue = queue()
    for name in ["x", "y"] + waiting { _ = queue.arrived(name, customers: 1, now: at(0)) }
    return queue
  }

  /// One whose permits are taken, where it came to be known at the start that there are too many.
  private static func overloaded() -> ReadLimiter<String> {
    var queue = queue()
    for name in ["x", "y", "old"] { _ = queue.arrived(name, customers: 1, now: at(-51)) }
    #expect(arrived(&queue, "new", at: 0) == "refused old")
    #expect(ended(&queue, at: 0) == "started new")
    return queue
  }

  private static func outcome(_ outcome: ReadLimiter<String>.Outcome) -> String {
    [("started", outcome.begun.flatMap(\.reads)), ("refused", outcome.shed)].filter {
      !$0.1.isEmpty
    }
    .map { ([$0.0] + $0.1).joined(separator: " ") }.joined(separator: ", ")
  }

  private static func arrived(
    _ queue: inout ReadLimiter<String>, _ name: String, customers: Int = 1, at time: Int64
  ) -> String {
    outcome(queue.arrived(name, customers: customers, now: at(time)))
  }

  private static func turnsAway(_ queue: inout ReadLimiter<String>, at time: Int64) -> Bool {
    queue.refusesLargeBatch(now: at(time))
  }

  private static func ended(
    _ queue: inout ReadLimiter<String>, customers: Int = 1, at time: Int64
  ) -> String {
    outcome(queue.ended(permits: customers, now: at(time)))
  }

  @Test("As many begin at once as there are permits; those that come then begin in their turn")
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

  @Test("One that takes more permits waits for all of them, and keeps its turn")
  func cost() {
    var queue = Self.full("small")
    #expect(Self.arrived(&queue, "large", customers: 2, at: 0) == "")
    #expect(Self.arrived(&queue, "last", at: 0) == "")
    #expect(Self.ended(&queue, at: 1) == "started small")
    #expect(Self.ended(&queue, at: 2) == "")
    #expect(Self.ended(&queue, at: 3) == "started large")
    #expect(Self.ended(&queue, customers: 2, at: 4) == "started last")
  }

  @Test("It is known before a call is made whether it would be refused, and counts")
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

  @Test("Too many for the memory are refused, however short they have waited")
  func waitingLimit() {
    var queue = Self.queue(waiting: 1)
    for name in ["x", "y", "a"] { _ = queue.arrived(name, customers: 1, now: Self.at(0)) }
    #expect(Self.arrived(&queue, "b", at: 0) == "refused b")
    #expect(Self.turnsAway(&queue, at: 0))
  }

  @Test("No read is refused that finds its permits, though a newer one waits for more of them")
  func besideLarge() {
    var queue = Self.overloaded()
    #expect(Self.arrived(&queue, "small", at: 0) == "")
    #expect(Self.arrived(&queue, "large", customers: 2, at: 0) == "")
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

  @Test("No read is refused while a permit is free, however long it has waited")
  func place() {
    var queue = Self.overloaded()
    #expect(Self.arrived(&queue, "a", at: 1) == "")
    #expect(Self.ended(&queue, at: 500) == "started a")
  }

  @Test("Once there are too many, large batches are refused before others when few wait")
  func largeBatches() {
    var queue = Self.overloaded()
    #expect(!Self.turnsAway(&queue, at: 1))
    _ = queue.arrived("a", customers: 2, now: Self.at(1))
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

  /// Customers of a batch that begin at once with one read of so many customers in flight.
  @Test(
    "A large read takes a permit for each batch that it fills, and not more than half of them",
    arguments: [(1, 3), (16, 3), (17, 2), (48, 2), (1_000, 2)])
  func permits(customers: Int, others: Int) {
    var queue = ReadLimiter<String>(ReadLimits(permits: 4))
    #expect(Self.arrived(&queue, "large", customers: customers, at: 0) == "started large")
    let begun = (0..<4).count { Self.arrived(&queue, "\($0)", at: 0) == "started \($0)" }
    #expect(begun == others)
  }

  @Test("Those that wait share the next batch, in their order, as far as they fit")
  func batches() {
    var queue = ReadLimiter<String>(ReadLimits(permits: 1))
    #expect(Self.arrived(&queue, "x", at: 0) == "started x")
    for (name, customers) in [("a", 1), ("b", 14), ("c", 1), ("d", 1), ("large", 40), ("e", 1)] {
      #expect(Self.arrived(&queue, name, customers: customers, at: 0) == "")
    }
    #expect(queue.ended(permits: 1, now: Self.at(1)).begun.map(\.reads) == [["a", "b", "c"]])
    #expect(queue.ended(permits: 1, now: Self.at(2)).begun.map(\.reads) == [["d"]])
    #expect(queue.ended(permits: 1, now: Self.at(3)).begun.map(\.reads) == [["large"]])
    #expect(queue.ended(permits: 1, now: Self.at(4)).begun.map(\.reads) == [["e"]])
  }

  @Test("A patient read is not refused for its time, and begins before newer ones")
  func patient() {
    var queue = Self.overloaded()
    _ = queue.arrived("watch", customers: 1, isPatient: true, now: Self.at(1))
    #expect(Self.arrived(&queue, "a", at: 2) == "")
    #expect(Self.arrived(&queue, "b", at: 9) == "")
    #expect(Self.ended(&queue, at: 10) == "started watch, refused a")
    #expect(Self.ended(&queue, at: 11) == "started b")
  }

  @Test(
    "Whatever comes and ends, none is lost, and no more begin than there are permits",
    arguments: 0..<20)
  func conservation(seed: UInt64) {
    var generator = SeededGenerator(seed: seed, label: "limiter")
    var limits = ReadLimits(permits: 4)
    limits.waiting = 10
    limits.customersPerBatch = 1 + generator.number(below: 6)
    var queue = ReadLimiter<Int>(limits)
    var count = 0
    var inFlight: [Int] = []
    var decided: Set<Int> = []
    var now = Self.start
    func note(_ outcome: ReadLimiter<Int>.Outcome) {
      inFlight += outcome.begun.map(\.permits)
      for read in outcome.begun.flatMap(\.reads) + outcome.shed {
        let isNew = decided.insert(read).inserted
        #expect(isNew)
      }
      #expect(inFlight.reduce(0, +) <= limits.permits)
    }
    for _ in 0..<2_000 {
      now = now + .microseconds(Int64(generator.number(below: 2_000)))
      if generator.number(below: 3) > 0 {
        let customers = 1 + generator.number(below: 2 * limits.customersPerBatch)
        note(
          queue.arrived(
            count, customers: customers, isPatient: generator.number(below: 5) == 0, now: now))
        count += 1
      } else if !inFlight.isEmpty {
        let permits = inFlight.remove(at: generator.number(below: inFlight.count))
        note(queue.ended(permits: permits, now: now))
      }
      #expect(count - decided.count == queue.waitingCount)
      #expect(queue.waitingCount <= limits.waiting)
    }
    while let permits = inFlight.popLast() { note(queue.ended(permits: permits, now: now)) }
    #expect(decided.count == count)
  }
}
