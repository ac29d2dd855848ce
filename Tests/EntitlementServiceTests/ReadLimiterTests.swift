import NIOCore
import StoreSimulator
import Testing

@testable import EntitlementService

@Suite("Read limiter")
struct ReadLimiterTests {
  private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

  private static func at(_ milliseconds: Int64) -> NIODeadline {
    start + .milliseconds(milliseconds)
  }

  /// Two permits and one customer per batch. A read may wait 50 ms in a burst, and 2 ms in
  /// overload, which lasts for 1 s.
  private static func makeLimiter(waiting: Int = 100) -> ReadLimiter<String> {
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

  /// A limiter whose permits are taken. The given reads have waited since the start.
  private static func full(_ waiting: String...) -> ReadLimiter<String> {
    var limiter = makeLimiter()
    for name in ["x", "y"] + waiting { _ = arrived(&limiter, name, at: 0) }
    return limiter
  }

  /// A limiter whose permits are taken, and that is overloaded since the start.
  private static func overloaded() -> ReadLimiter<String> {
    var limiter = makeLimiter()
    for name in ["x", "y", "old"] { _ = arrived(&limiter, name, at: -51) }
    #expect(arrived(&limiter, "new", at: 0) == "refused old")
    #expect(ended(&limiter, at: 0) == "started new")
    return limiter
  }

  private static func outcome(_ outcome: ReadLimiter<String>.Outcome) -> String {
    [("started", outcome.begun.flatMap(\.reads)), ("refused", outcome.shed)].filter {
      !$0.1.isEmpty
    }
    .map { ([$0.0] + $0.1).joined(separator: " ") }.joined(separator: ", ")
  }

  private static func arrived(
    _ limiter: inout ReadLimiter<String>, _ name: String, customers: Int = 1, at time: Int64
  ) -> String {
    limiter.arrived(name, customers: customers, now: at(time))
    return outcome(limiter.advance(at(time)))
  }

  private static func refusesLargeBatch(
    _ limiter: inout ReadLimiter<String>, at time: Int64
  ) -> Bool {
    limiter.refusesLargeBatch(now: at(time))
  }

  private static func ended(
    _ limiter: inout ReadLimiter<String>, customers: Int = 1, at time: Int64
  ) -> String {
    outcome(limiter.ended(permits: customers, now: at(time)))
  }

  @Test("Reads begin while permits are free; later reads begin in order of arrival")
  func turns() {
    var limiter = Self.makeLimiter()
    #expect(Self.arrived(&limiter, "a", at: 0) == "started a")
    #expect(Self.arrived(&limiter, "b", at: 0) == "started b")
    #expect(Self.arrived(&limiter, "c", at: 1) == "")
    #expect(Self.arrived(&limiter, "d", at: 2) == "")
    #expect(Self.ended(&limiter, at: 3) == "started c")
    #expect(Self.ended(&limiter, at: 4) == "started d")
    #expect(Self.ended(&limiter, at: 5) == "")
    #expect(Self.arrived(&limiter, "e", at: 6) == "started e")
  }

  @Test("A read that waits for no permit causes no overload")
  func lateAdvance() {
    var limiter = Self.makeLimiter()
    limiter.arrived("a", customers: 1, now: Self.at(0))
    #expect(!Self.refusesLargeBatch(&limiter, at: 51))
    limiter.arrived("b", customers: 1, now: Self.at(51))
    #expect(Self.outcome(limiter.advance(Self.at(51))) == "started a b")
    // No overload: the next reads may wait as those of a burst.
    #expect(Self.arrived(&limiter, "c", at: 52) == "")
    #expect(Self.arrived(&limiter, "d", at: 60) == "")
  }

  @Test("Reads that arrive together share a batch, even if permits are free")
  func gathering() {
    var limiter = ReadLimiter<String>(ReadLimits(permits: 2))
    for name in ["a", "b", "c"] {
      limiter.arrived(name, customers: 1, now: Self.at(0))
    }
    #expect(limiter.advance(Self.at(0)).begun.map(\.reads) == [["a", "b", "c"]])
  }

  @Test("A read that needs several permits waits for all, and keeps its turn")
  func cost() {
    var limiter = Self.full("small")
    #expect(Self.arrived(&limiter, "large", customers: 2, at: 0) == "")
    #expect(Self.arrived(&limiter, "last", at: 0) == "")
    #expect(Self.ended(&limiter, at: 1) == "started small")
    #expect(Self.ended(&limiter, at: 2) == "")
    #expect(Self.ended(&limiter, at: 3) == "started large")
    #expect(Self.ended(&limiter, customers: 2, at: 4) == "started last")
  }

  @Test("A large batch is refused after a burst has waited too long; the refusal is counted")
  func refusesLargeBatch() {
    var idle = Self.makeLimiter()
    #expect(!Self.refusesLargeBatch(&idle, at: 0))
    var limiter = Self.full("a")
    #expect(!Self.refusesLargeBatch(&limiter, at: 50))
    #expect(Self.refusesLargeBatch(&limiter, at: 51))
    // The limiter is overloaded now, and sheds the read that has waited for more than 2 ms.
    #expect(Self.arrived(&limiter, "b", at: 51) == "refused a")
    #expect(!Self.refusesLargeBatch(&limiter, at: 51))
  }

  @Test("The reads of a burst wait, and begin in order of arrival")
  func burst() {
    var limiter = Self.full("a")
    #expect(Self.arrived(&limiter, "b", at: 50) == "")
    #expect(Self.ended(&limiter, at: 200) == "started a")
    #expect(Self.ended(&limiter, at: 201) == "started b")
  }

  @Test("When the oldest read has waited too long, waiting reads are shed and a new one stays")
  func refusal() {
    var limiter = Self.full("a", "b")
    #expect(Self.arrived(&limiter, "c", at: 51) == "refused a b")
    #expect(Self.ended(&limiter, at: 52) == "started c")
  }

  @Test("Reads above the limit of waiting reads are refused at once")
  func waitingLimit() {
    var limiter = Self.makeLimiter(waiting: 1)
    for name in ["x", "y", "a"] { _ = Self.arrived(&limiter, name, at: 0) }
    #expect(Self.arrived(&limiter, "b", at: 0) == "refused b")
    #expect(Self.refusesLargeBatch(&limiter, at: 0))
  }

  @Test("A read whose permits are free is not shed, even if a newer one waits for more permits")
  func behindLarge() {
    var limiter = Self.overloaded()
    #expect(Self.arrived(&limiter, "small", at: 0) == "")
    #expect(Self.arrived(&limiter, "large", customers: 2, at: 0) == "")
    #expect(Self.ended(&limiter, at: 1) == "")
    #expect(Self.outcome(limiter.advance(Self.at(2))) == "")
    #expect(Self.outcome(limiter.advance(Self.at(3))) == "started small, refused large")
  }

  @Test("In overload the newest read begins first")
  func newestFirst() {
    var limiter = Self.overloaded()
    #expect(Self.arrived(&limiter, "a", at: 1) == "")
    #expect(Self.arrived(&limiter, "b", at: 2) == "")
    #expect(Self.ended(&limiter, at: 2) == "started b")
    #expect(Self.ended(&limiter, at: 3) == "started a")
  }

  @Test("In overload no read waits for long, and reads are shed in groups")
  func overload() {
    var limiter = Self.overloaded()
    for (name, time) in [("a", 1), ("b", 2), ("c", 3)] as [(String, Int64)] {
      #expect(Self.arrived(&limiter, name, at: time) == "")
    }
    // The oldest has waited 3 ms. Reads that have waited for more than 1 ms are shed with it.
    #expect(Self.arrived(&limiter, "d", at: 4) == "refused a b")
    #expect(Self.ended(&limiter, at: 6) == "started d, refused c")
  }

  @Test("No read is shed while a permit is free, however long it has waited")
  func freePermit() {
    var limiter = Self.overloaded()
    #expect(Self.arrived(&limiter, "a", at: 1) == "")
    #expect(Self.ended(&limiter, at: 500) == "started a")
  }

  @Test("In overload large batches are refused while other reads may still wait")
  func largeBatches() {
    var limiter = Self.overloaded()
    #expect(!Self.refusesLargeBatch(&limiter, at: 1))
    limiter.arrived("a", customers: 2, now: Self.at(1))
    #expect(Self.refusesLargeBatch(&limiter, at: 1))
    #expect(Self.arrived(&limiter, "b", at: 1) == "")
  }

  @Test("Overload ends one second after the last refusal", arguments: [999, 1_000])
  func recovery(milliseconds: Int64) {
    // The last refusal was at time 0.
    var limiter = Self.overloaded()
    #expect(Self.arrived(&limiter, "a", at: milliseconds - 5) == "")
    let isOver = milliseconds >= 1_000
    #expect(Self.arrived(&limiter, "b", at: milliseconds) == (isOver ? "" : "refused a"))
  }

  /// - Parameter others: the number of small reads that begin while the large read is in flight.
  @Test(
    "A large read takes a permit for each batch that it fills, at most half of all permits",
    arguments: [(1, 3), (16, 3), (17, 2), (48, 2), (1_000, 2)])
  func permits(customers: Int, others: Int) {
    var limiter = ReadLimiter<String>(ReadLimits(permits: 4))
    #expect(Self.arrived(&limiter, "large", customers: customers, at: 0) == "started large")
    let begun = (0..<4).count { Self.arrived(&limiter, "\($0)", at: 0) == "started \($0)" }
    #expect(begun == others)
  }

  @Test("Waiting reads share the next batch, in order of arrival, as far as they fit")
  func batches() {
    var limiter = ReadLimiter<String>(ReadLimits(permits: 1))
    #expect(Self.arrived(&limiter, "x", at: 0) == "started x")
    for (name, customers) in [("a", 1), ("b", 14), ("c", 1), ("d", 1), ("large", 40), ("e", 1)] {
      #expect(Self.arrived(&limiter, name, customers: customers, at: 0) == "")
    }
    #expect(limiter.ended(permits: 1, now: Self.at(1)).begun.map(\.reads) == [["a", "b", "c"]])
    #expect(limiter.ended(permits: 1, now: Self.at(2)).begun.map(\.reads) == [["d"]])
    #expect(limiter.ended(permits: 1, now: Self.at(3)).begun.map(\.reads) == [["large"]])
    #expect(limiter.ended(permits: 1, now: Self.at(4)).begun.map(\.reads) == [["e"]])
  }

  @Test("A patient read is not shed for its waiting time, and begins before newer ones")
  func patient() {
    var limiter = Self.overloaded()
    limiter.arrived("watch", customers: 1, isPatient: true, now: Self.at(1))
    #expect(Self.arrived(&limiter, "a", at: 2) == "")
    #expect(Self.arrived(&limiter, "b", at: 9) == "")
    #expect(Self.ended(&limiter, at: 10) == "started watch, refused a")
    #expect(Self.ended(&limiter, at: 11) == "started b")
  }

  @Test(
    "With random events, no read is lost and no more permits are taken than there are",
    arguments: 0..<20)
  func conservation(seed: UInt64) {
    var generator = SeededGenerator(seed: seed, label: "limiter")
    var limits = ReadLimits(permits: 4)
    limits.waiting = 10
    limits.customersPerBatch = 1 + generator.number(below: 6)
    var limiter = ReadLimiter<Int>(limits)
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
        limiter.arrived(
          count, customers: customers, isPatient: generator.number(below: 5) == 0, now: now)
        count += 1
        // Several reads may arrive before the limiter advances.
        if generator.number(below: 2) == 0 { continue }
        note(limiter.advance(now))
      } else if !inFlight.isEmpty {
        let permits = inFlight.remove(at: generator.number(below: inFlight.count))
        note(limiter.ended(permits: permits, now: now))
      } else {
        note(limiter.advance(now))
      }
      #expect(count - decided.count == limiter.waitingCount)
      #expect(limiter.waitingCount <= limits.waiting)
    }
    note(limiter.advance(now))
    while let permits = inFlight.popLast() { note(limiter.ended(permits: permits, now: now)) }
    #expect(decided.count == count)
  }
}
