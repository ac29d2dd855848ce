import NIOCore
import StoreSimulator

/// The calls of a run: the same plan for all threads.
struct CallPlan: Sendable {
  let customers: BulkCustomers
  let mix: CallMix
  let choice: CustomerChoice
  /// Customers in one batch.
  let batchSize: Int
  /// Timeout of each call.
  let timeout: Duration
  /// Signs submitted payloads; nil when the mix has no signed calls.
  let authority: SigningAuthority?
  let seed: UInt64
  let threads: Int

  /// Index of the first new customer, and maximum size of the population. There are as many new
  /// customers.
  static let firstNewCustomer = Population.maximumCount / 2

  /// Index of a new customer. Each thread has its own new customers, each once. They begin at an
  /// index that the seed determines, so that runs with different seeds have different ones.
  func newCustomer(_ number: Int, ofThread thread: Int) -> Int {
    var generator = SeededGenerator(seed: seed, label: "new customers")
    let start = generator.number(below: Self.firstNewCustomer)
    let offset = (start + number * threads + thread) % Self.firstNewCustomer
    return Self.firstNewCustomer + offset
  }
}

/// The shape of the load: a closed or an open loop.
enum LoadShape: Hashable, Sendable {
  /// A constant number of calls in flight on each connection: each answer is followed by the next
  /// call.
  case closed(inFlight: Int)
  /// A rate in calls a second, independent of the answers.
  case open(rate: Double, spacing: ArrivalSchedule.Spacing, maximumInFlight: Int)
}

/// The plan of a run: the same for all threads.
struct RunPlan: Sendable {
  let calls: CallPlan
  let shape: LoadShape
  let connections: Int
  let checks: AnswerChecker.Extent
  let warmUp: Duration
  /// Length of the measurement; nil: until ``count`` calls were made.
  let duration: Duration?
  /// Number of measured calls of all threads; nil: no limit.
  let count: Int?

  var threads: Int { calls.threads }

  /// How long a thread waits for a connection before it gives up, in a run without a ``duration``.
  var reconnectTimeout: Duration { max(calls.timeout, .seconds(1)) }

  /// The share of one thread in a number.
  func part(of number: Int, ofThread thread: Int) -> Int {
    number / threads + (thread < number % threads ? 1 : 0)
  }
}

/// The end of a run, or of the part of one thread.
struct LoadEnd: Sendable {
  /// When the last call ended.
  let moment: NIODeadline
  /// The run was given up, because no connection could be opened any more.
  let isServerGone: Bool

  /// Combines the ends of two threads.
  func joined(with other: LoadEnd) -> LoadEnd {
    LoadEnd(
      moment: max(moment, other.moment), isServerGone: isServerGone || other.isServerGone)
  }
}

/// The start of a run, and the period of the measurement.
struct RunTimes: Sendable {
  let start: NIODeadline
  let measureFrom: NIODeadline
  /// Nil: until all calls are made.
  let until: NIODeadline?
}
