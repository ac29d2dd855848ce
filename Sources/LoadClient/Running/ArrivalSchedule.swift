import ArgumentParser
import Foundation
import NIOCore
import StoreSimulator

/// The moments at which calls are meant to be made, whatever became of those before: a load that
/// does not wait for the server.
struct ArrivalSchedule: Sendable {
  enum Spacing: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// The same time between any two.
    case constant
    /// As of very many callers who know nothing of each other.
    case poisson
  }

  /// When the next call is meant to be made.
  private(set) var next: NIODeadline
  private let spacing: Spacing
  private let start: NIODeadline
  /// Nanoseconds.
  private let interval: Double
  /// Nanoseconds after ``start``; kept as a sum so that rounding does not slow the rate.
  private var offset: Double
  private var generator: SeededGenerator

  /// One of several schedules that share a rate; their calls take turns.
  ///
  /// - Parameters:
  ///   - rate: of all of them, in calls a second; positive.
  ///   - part: which one, from 0, below `parts`.
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
    // 1 less a number below 1 is never 0.
    case .poisson: -log(1 - generator.fraction()) * interval
    }
  }
}
