import NIOCore

/// How calls follow each other.
enum LoadShape: Hashable, Sendable {
  /// As many calls at a time on each connection; each is followed by another when it is answered.
  case closed(inFlight: Int)
  /// So many calls a second, answered or not.
  case open(rate: Double, spacing: ArrivalSchedule.Spacing, maximumInFlight: Int)
}

/// How a run goes: the same for all threads.
struct RunPlan: Sendable {
  let calls: CallPlan
  let shape: LoadShape
  let connections: Int
  let checks: AnswerChecker.Extent
  let warmUp: Duration
  /// Of what is measured; nil: until ``count`` calls were made.
  let duration: Duration?
  /// Of measured calls, of all threads.
  let count: Int?

  var threads: Int { calls.threads }

  /// How long a thread waits for any connection in a run that ends with its ``count`` alone.
  var longestAbsence: Duration { max(calls.timeout, .seconds(1)) }

  /// How many of a number one thread has.
  func part(of number: Int, ofThread thread: Int) -> Int {
    number / threads + (thread < number % threads ? 1 : 0)
  }
}

/// How a run, or a thread's part of it, ended.
struct LoadEnd: Sendable {
  /// No call was under way any more.
  let moment: NIODeadline
  /// It was given up, as no connection could be made any more.
  let isServerGone: Bool

  /// Of both together.
  func joined(with other: LoadEnd) -> LoadEnd {
    LoadEnd(
      moment: max(moment, other.moment), isServerGone: isServerGone || other.isServerGone)
  }
}

/// When a run begins, and when it is measured.
struct RunTimes: Sendable {
  let start: NIODeadline
  let measureFrom: NIODeadline
  /// Nil: until the calls are made.
  let until: NIODeadline?
}
