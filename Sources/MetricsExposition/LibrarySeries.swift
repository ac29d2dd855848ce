import CoreMetrics
import Synchronization

/// What a library records under one name with certain labels.
protocol LibrarySeries: AnyObject, Sendable {
  func sample(_ labels: [MetricLabel]) -> MetricSample
}

final class CounterSeries: LibrarySeries, CounterHandler, FloatingPointCounterHandler {
  private let value = Mutex(0.0)

  func increment(by amount: Int64) { increment(by: Double(amount)) }

  func increment(by amount: Double) {
    // A counter never falls. False for what is not a number, too.
    guard amount > 0, amount.isFinite else { return }
    value.withLock { $0 += amount }
  }

  func reset() { value.withLock { $0 = 0 } }

  func sample(_ labels: [MetricLabel]) -> MetricSample {
    MetricSample(labels, value.withLock { $0 })
  }
}

final class GaugeSeries: LibrarySeries, MeterHandler, RecorderHandler {
  private let value = Mutex(0.0)

  func set(_ new: Int64) { set(Double(new)) }

  func set(_ new: Double) { value.withLock { $0 = new } }

  func record(_ new: Int64) { set(Double(new)) }

  func record(_ new: Double) { set(new) }

  func increment(by amount: Double) { value.withLock { $0 += amount } }

  func decrement(by amount: Double) { value.withLock { $0 -= amount } }

  func sample(_ labels: [MetricLabel]) -> MetricSample {
    MetricSample(labels, value.withLock { $0 })
  }
}

final class HistogramSeries: LibrarySeries, RecorderHandler, TimerHandler {
  private struct State {
    var counts: [Int]
    var sum = 0.0
  }

  private let bounds: [Double]
  private let state: Mutex<State>

  init(_ bounds: [Double]) {
    self.bounds = bounds
    state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
  }

  func record(_ value: Int64) { record(Double(value)) }

  func record(_ value: Double) {
    guard !value.isNaN else { return }
    let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
    state.withLock { state in
      state.counts[bucket] += 1
      state.sum += value
    }
  }

  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

  func sample(_ labels: [MetricLabel]) -> MetricSample {
    let state = state.withLock { $0 }
    return MetricSample(
      labels, HistogramValue(bounds: bounds, counts: state.counts, sum: state.sum))
  }
}
