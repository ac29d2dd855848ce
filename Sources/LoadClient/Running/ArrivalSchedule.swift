import ArgumentParser
import Foundation
import NIOCore
import StoreSimulator

/// The intended start times of the calls of an open loop, which do not depend on earlier calls: the
/// load does not wait for the server.
struct ArrivalSchedule: Sendable {
  enum Spacing: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// A constant interval.
    case constant
    /// Random intervals, as of very many independent callers.
    case poisson
  }

  /// The intended start time of the next call.
  private(set) var next: NIODeadline
  private let spacing: Spacing
  private let start: NIODeadline
  /// Mean interval, in nanoseconds.
  private let interval: Double
  /// Time of the next call, in nanoseconds after ``start``. A sum without rounding, so that the
  /// rate does not drift.
  private var offset: Double
  private var generator: SeededGenerator

  /// One of several schedules that share a rate. Their calls take turns.
  ///
  /// - Parameters:
  /// - rate: the sum of all schedules, in calls a second; positive.
  /// - part: the index of this schedule, from 0 to below `parts`.
  init(
    rate: Double, spacing: Spacing, from start: NIODeadline, part: Int = 0, of parts: Int = 1,
    seed: UInt64
  ) {
    self.spacing = spacing
    self.start = start
    interval = 1e9 / rate * Double(parts)
    generator = SeededGenerator(seed: seed, label: "arrivals", index: UInt64(part))
    offset = 0
    next = start
    switch spacing {
    case .constant: offset = interval * Double(part) / Double(parts)
    case .poisson: offset = gap()
    }
    next = start + .nanoseconds(Int64(offset))
  }

  mutating func advance() {
    offset += gap()
    next = start + .nanoseconds(Int64(offset))
  }

  private mutating func gap() -> Double {
    switch spacing {
    case .constant: interval
    // The argument is never 0: the random number is below 1.
    case .poisson: -log(1 - generator.fraction()) * interval
    }
  }
}
