/// What was measured in one second, or in what was left at the end of a run.
struct MeasuredInterval: Sendable {
  /// In seconds from the beginning of what is measured.
  let start: Double
  let length: Double
  let all: LatencyHistogram
  let kinds: [CallKind: LatencyHistogram]
}
