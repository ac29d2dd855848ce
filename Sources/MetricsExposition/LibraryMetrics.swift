package import CoreMetrics
import Synchronization

/// What libraries report through swift-metrics, such as an HTTP server's requests. Install it once
/// with `MetricsSystem.bootstrap`, and give ``families`` to an ``Exposition``.
///
/// Labels may come from what clients send, so the number of series is bounded. At the limit those
/// that exist go on, a new one is not recorded, and ``refusedName`` counts it.
package final class LibraryMetrics: MetricsFactory {
  package struct Limits: Hashable, Sendable {
    /// Series, of which a timer has 20 lines: at most 2 MB of text.
    package var series = 1_000
    /// Labels of a series. One with more is not recorded.
    package var labels = 16
    /// Bytes of a name or a value. What is longer is not recorded.
    package var textLength = 128

    package init() {}
  }

  package static let refusedName = "entitle_library_series_refused"
  package static let refusedHelp =
    "Attempts of libraries to report a series beyond the limits. It is not recorded."

  private struct Key: Hashable {
    let name: String
    let labels: [MetricLabel]
  }

  private struct State {
    var series: [Key: any LibrarySeries] = [:]
    /// The kind and number of series of each name: all series of a family are of one kind.
    var names: [String: (kind: MetricFamily.Kind, series: Int)] = [:]
    var refused = 0
  }

  private let limits: Limits
  private let timerBounds: [Double]
  private let state = Mutex(State())

  /// - Parameter timerBounds: the buckets of timers, in seconds, ascending.
  package init(timerBounds: [Double], limits: Limits = Limits()) {
    self.timerBounds = timerBounds
    self.limits = limits
  }

  /// Sorted by name, and the samples by their labels.
  package var families: [MetricFamily] {
    let (series, names, refused) = state.withLock { ($0.series, $0.names, $0.refused) }
    var samples: [String: [MetricSample]] = [:]
    for (key, value) in series { samples[key.name, default: []].append(value.sample(key.labels)) }
    let families = samples.sorted { $0.key < $1.key }.compactMap { name, samples in
      names[name].map { entry in
        MetricFamily(
          name, entry.kind, unit: name.hasSuffix("_seconds") ? "seconds" : nil,
          help: "Reported by a library.",
          samples: samples.sorted { Self.order($0.labels) < Self.order($1.labels) })
      }
    }
    let refusals = MetricFamily(
      Self.refusedName, .counter, help: Self.refusedHelp,
      samples: [MetricSample([], Double(refused))])
    return families + [refusals]
  }

  private static func order(_ labels: [MetricLabel]) -> String {
    labels.map { "\($0.name)\u{0}\($0.value)" }.joined(separator: "\u{1}")
  }

  // MARK: MetricsFactory

  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    series(label, dimensions, .counter) { CounterSeries() } ?? CounterSeries()
  }

  package func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    series(label, dimensions, .counter) { CounterSeries() } ?? CounterSeries()
  }

  package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    series(label, dimensions, .gauge) { GaugeSeries() } ?? GaugeSeries()
  }

  /// A recorder without aggregation is a gauge. One with it has an unknown unit, so that only the
  /// number and the sum of its values are kept.
  package func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    if aggregate {
      series(label, dimensions, .histogram) { HistogramSeries([]) } ?? HistogramSeries([])
    } else {
      series(label, dimensions, .gauge) { GaugeSeries() } ?? GaugeSeries()
    }
  }

  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    let name = label.hasSuffix("seconds") ? label : label + ".seconds"
    return series(name, dimensions, .histogram) { [timerBounds] in HistogramSeries(timerBounds) }
      ?? HistogramSeries([])
  }

  package func destroyCounter(_ handler: any CounterHandler) { remove(handler) }

  package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {
    remove(handler)
  }

  package func destroyMeter(_ handler: any MeterHandler) { remove(handler) }

  package func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }

  package func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

  // MARK: Series

  /// The series with this name and these labels, new or known.
  ///
  /// - Returns: nil at the limit, and if the name is that of another kind: what is recorded then is
  ///   not shown.
  private func series<Series: LibrarySeries>(
    _ label: String, _ dimensions: [(String, String)], _ kind: MetricFamily.Kind,
    make: () -> Series
  ) -> Series? {
    let name = Self.familyName(label)
    let labels = dimensions.map { MetricLabel(Self.word($0.0), $0.1) }
      .sorted { $0.name < $1.name }
    let key = Key(name: name, labels: labels)
    return state.withLock { state in
      if let known = state.series[key] {
        if let known = known as? Series { return known }
        state.refused += 1
        return nil
      }
      guard state.series.count < limits.series, isWithinLimits(key),
        state.names[name].map({ $0.kind == kind }) ?? true
      else {
        state.refused += 1
        return nil
      }
      let new = make()
      state.series[key] = new
      state.names[name, default: (kind, 0)].series += 1
      return new
    }
  }

  private func isWithinLimits(_ key: Key) -> Bool {
    key.name.utf8.count <= limits.textLength && key.labels.count <= limits.labels
      && Set(key.labels.map(\.name)).count == key.labels.count
      && key.labels.allSatisfy {
        $0.name.utf8.count <= limits.textLength && $0.value.utf8.count <= limits.textLength
          // The bucket of a histogram, and names that Prometheus keeps for itself.
          && $0.name != "le" && !$0.name.hasPrefix("__")
      }
  }

  private func remove(_ handler: AnyObject) {
    state.withLock { state in
      guard let key = state.series.first(where: { $0.value === handler })?.key else { return }
      state.series[key] = nil
      state.names[key.name]?.series -= 1
      if state.names[key.name]?.series == 0 { state.names[key.name] = nil }
    }
  }

  /// A name of Prometheus for a name of a library, such as `http_server_requests` for
  /// `http.server.requests`. Endings that samples get are removed, so that two families cannot have
  /// samples of one name.
  private static func familyName(_ label: String) -> String {
    var name = word(label)
    let endings = ["_total", "_bucket", "_sum", "_count", "_created", "_info"]
    while let ending = endings.first(where: { name.hasSuffix($0) && name.count > $0.count }) {
      name.removeLast(ending.count)
    }
    return name
  }

  /// Letters, digits and `_`, not beginning with a digit.
  private static func word(_ text: String) -> String {
    let word = text.unicodeScalars.map { scalar -> Character in
      let isAllowed = scalar.isASCII && (scalar.properties.isAlphabetic || scalar == "_")
      return isAllowed || ("0"..."9").contains(scalar) ? Character(scalar) : "_"
    }
    guard let first = word.first else { return "_" }
    return (first.isNumber ? "_" : "") + String(word)
  }
}
