import AccessControl
import NIOCore
import Testing
import Wire

@Suite("Limits of a caller")
struct CallerMeterTests {
  private static let start = NIODeadline.uptimeNanoseconds(3_600_000_000_000)

  private static func at(_ milliseconds: Int64) -> NIODeadline {
    start + .milliseconds(milliseconds)
  }

  // MARK: Rates

  @Test("A caller without limits is not limited")
  func unlimited() {
    let meter = CallerMeter()
    for _ in 0..<10_000 {
      #expect(meter.charge(.reads(256), now: Self.start) == nil)
      #expect(meter.charge(.expensiveRead, now: Self.start) == nil)
      #expect(meter.charge(.submissions(500), now: Self.start) == nil)
      #expect(meter.charge(.none, now: Self.start) == nil)
    }
    meter.countReads(1 << 40, now: Self.start)
    #expect(meter.allowsRead(now: Self.start))
    #expect(meter.limits == nil)
  }

  @Test("A rate is what it says, and the answer beyond it says when to try again")
  func rate() {
    let meter = CallerMeter(CallerLimits(readsPerSecond: 10))
    for _ in 0..<10 { #expect(meter.charge(.reads(1), now: Self.start) == nil) }
    #expect(meter.charge(.reads(1), now: Self.start) == .milliseconds(100))
    #expect(meter.charge(.reads(1), now: Self.at(40)) == .milliseconds(60), "nothing was charged")
    #expect(meter.charge(.reads(1), now: Self.at(99)) == .milliseconds(1))
    #expect(meter.charge(.reads(1), now: Self.at(100)) == nil)
    #expect(meter.charge(.reads(1), now: Self.at(100)) == .milliseconds(100))
    // What is not used is kept for one second only.
    var allowed = 0
    while meter.charge(.reads(1), now: Self.at(60_000)) == nil { allowed += 1 }
    #expect(allowed == 10)
  }

  @Test("Over a minute, a greedy caller gets its rate and the tokens of one second")
  func greed() {
    for rate in [1, 7, 1_000] {
      let meter = CallerMeter(CallerLimits(submissionsPerSecond: rate))
      var allowed = 0
      for moment in Int64(0)..<60_000
      where meter.charge(.submissions(1), now: Self.at(moment)) == nil {
        allowed += 1
      }
      // A token a millisecond at most, at the largest of these rates.
      #expect((60 * rate - 1...61 * rate + 1).contains(allowed), "\(allowed) at \(rate)")
    }
  }

  @Test("A call that is larger than what is left overdraws the rate, and the next ones wait for it")
  func debt() {
    let meter = CallerMeter(CallerLimits(readsPerSecond: 10))
    #expect(meter.charge(.reads(256), now: Self.start) == nil)
    #expect(meter.charge(.reads(1), now: Self.start) == .milliseconds(24_700))
    #expect(meter.charge(.reads(1), now: Self.at(24_699)) == .milliseconds(1))
    #expect(meter.charge(.reads(1), now: Self.at(24_700)) == nil)
  }

  @Test("What was paid before the conversion is part of the cost, and only the rest is charged")
  func prepaid() {
    let meter = CallerMeter(CallerLimits(readsPerSecond: 10, submissionsPerSecond: 10))
    let start = Self.start
    // 4 MiB, and 256 customers in them.
    #expect(meter.charge(.reads(64), now: start) == nil)
    #expect(meter.charge(.reads(256), prepaid: .reads(64), now: start) == nil)
    #expect(meter.charge(.reads(1), now: start) == .milliseconds(24_700))
    #expect(meter.charge(.submissions(64), now: start) == nil)
    #expect(meter.charge(.submissions(1), prepaid: .submissions(64), now: start) == nil)
    #expect(meter.charge(.submissions(1), now: start) == .milliseconds(5_500))
    // Another rate is charged as ever.
    let other = CallerMeter(CallerLimits(readsPerSecond: 1, expensiveReadsPerSecond: 1))
    for delay in [nil, Duration.seconds(1)] {
      #expect(other.charge(.expensiveRead, prepaid: .reads(64), now: start) == delay)
    }
    #expect(other.charge(.none, prepaid: .reads(64), now: start) == nil)
    #expect(other.charge(.reads(1), now: start) == nil)
  }

  @Test("The debt is ten minutes at most")
  func largestDebt() {
    let meter = CallerMeter(CallerLimits(submissionsPerSecond: 1))
    #expect(meter.charge(.submissions(500), now: Self.start) == nil)
    #expect(meter.charge(.submissions(1), now: Self.start) == .seconds(500))
    let other = CallerMeter(CallerLimits(submissionsPerSecond: 1))
    #expect(other.charge(.submissions(1_000_000), now: Self.start) == nil)
    #expect(other.charge(.submissions(1), now: Self.start) == .seconds(600))
    #expect(other.charge(.submissions(1), now: Self.at(600_000)) == nil)
  }

  @Test("The rates are separate, and a call of nothing costs as much as one of one")
  func separate() {
    let meter = CallerMeter(
      CallerLimits(readsPerSecond: 1, expensiveReadsPerSecond: 1, submissionsPerSecond: 1))
    for cost in [CallCost.reads(0), .expensiveRead, .submissions(0)] {
      #expect(meter.charge(cost, now: Self.start) == nil)
      #expect(meter.charge(cost, now: Self.start) == .seconds(1))
      #expect(meter.charge(.none, now: Self.start) == nil)
    }
  }

  @Test("Reads that are counted after their answers use the same rate")
  func countedReads() {
    let meter = CallerMeter(CallerLimits(readsPerSecond: 10))
    #expect(meter.allowsRead(now: Self.start))
    meter.countReads(9, now: Self.start)
    #expect(meter.allowsRead(now: Self.start))
    meter.countReads(3, now: Self.start)
    #expect(!meter.allowsRead(now: Self.start))
    #expect(meter.charge(.reads(1), now: Self.start) == .milliseconds(300))
    #expect(!meter.allowsRead(now: Self.at(299)))
    #expect(meter.allowsRead(now: Self.at(300)))
    #expect(meter.charge(.expensiveRead, now: Self.start) == nil)
  }

  @Test("A reload keeps what was used of the rates that stay the same")
  func update() {
    let limits = CallerLimits(readsPerSecond: 10, submissionsPerSecond: 10)
    let meter = CallerMeter(limits)
    #expect(meter.charge(.reads(50), now: Self.start) == nil)
    #expect(meter.charge(.submissions(50), now: Self.start) == nil)
    meter.update(limits)
    #expect(meter.charge(.reads(1), now: Self.start) == .milliseconds(4_100))
    meter.update(CallerLimits(readsPerSecond: 20, submissionsPerSecond: 10, inFlight: 5))
    #expect(meter.charge(.reads(1), now: Self.start) == nil, "another rate begins anew")
    #expect(meter.charge(.submissions(1), now: Self.start) == .milliseconds(4_100))
    #expect(
      meter.limits == CallerLimits(readsPerSecond: 20, submissionsPerSecond: 10, inFlight: 5))
    meter.update(CallerLimits())
    #expect(meter.limits == nil)
    #expect(meter.charge(.submissions(1), now: Self.start) == nil)
    #expect(meter.allowsRead(now: Self.start))
    meter.update(CallerLimits(readsPerSecond: 1))
    #expect(meter.charge(.reads(1), now: Self.start) == nil)
    #expect(!meter.allowsRead(now: Self.start))
  }

  @Test("Two meters have different numbers")
  func numbers() {
    #expect(Set((0..<100).map { _ in CallerMeter().number }).count == 100)
  }

  // MARK: Calls in flight and connections

  @Test("As many calls are in flight as the limit says, until they are released")
  func inFlight() {
    let meter = CallerMeter(CallerLimits(inFlight: 2))
    var calls = [meter.beginCall(), meter.beginCall()]
    #expect(calls.allSatisfy { $0 != nil })
    for _ in 0..<10 { #expect(meter.beginCall() == nil) }
    #expect(meter.inFlight == 2, "refused calls are not in flight")
    calls.removeLast()
    #expect(meter.inFlight == 1)
    calls.append(meter.beginCall())
    #expect(calls.last! != nil)
    #expect(meter.beginCall() == nil)
    // A lower limit ends no call, and a higher one counts those in flight.
    meter.update(CallerLimits(inFlight: 1))
    #expect(meter.inFlight == 2)
    calls.removeLast()
    #expect(meter.beginCall() == nil)
    meter.update(CallerLimits())
    for _ in 0..<100 { calls.append(meter.beginCall()) }
    #expect(calls.allSatisfy { $0 != nil })
    #expect(meter.inFlight == 101)
    calls = []
    #expect(meter.inFlight == 0)
  }

  @Test("A call is in flight while anything holds it")
  func sharedCall() {
    let meter = CallerMeter(CallerLimits(inFlight: 1))
    var first = meter.beginCall()
    var second = first
    #expect(second != nil)
    first = nil
    #expect(first == nil && meter.inFlight == 1)
    second = nil
    #expect(second == nil && meter.inFlight == 0)
  }

  @Test("As many connections are open as the limit says, until they are released")
  func connections() {
    let meter = CallerMeter(CallerLimits(connections: 2))
    var connections = [meter.openConnection(), meter.openConnection()]
    #expect(connections.allSatisfy { $0?.meter === meter })
    for _ in 0..<10 { #expect(meter.openConnection() == nil) }
    #expect(meter.connections == 2)
    connections.removeLast()
    #expect(meter.connections == 1)
    let again = meter.openConnection()
    #expect(again != nil && meter.openConnection() == nil)
    #expect(meter.inFlight == 0, "calls are counted apart")
  }

  @Test("Threads that begin and end calls at the same time never exceed the limit")
  func concurrency() async {
    let meter = CallerMeter(CallerLimits(inFlight: 3))
    await withTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask {
          var most = 0
          for _ in 0..<2_000 {
            guard let call = meter.beginCall() else { continue }
            withExtendedLifetime(call) { most = max(most, 1) }
          }
          return most
        }
      }
      for await most in group { #expect(most == 1) }
    }
    #expect(meter.inFlight == 0)
    #expect(meter.beginCall() != nil)
  }
}
