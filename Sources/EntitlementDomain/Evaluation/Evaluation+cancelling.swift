extension Evaluation {
  /// As ``evaluate(_:catalog:at:)``; nil when `isCancelled` returned true.
  package static func evaluate(
    _ record: CustomerRecord, catalog: Catalog, at now: Milliseconds,
    isCancelled: @escaping () -> Bool
  ) -> Outcome? {
    if isCancelled() { return nil }
    let outcome = evaluate(record, catalog: catalog, at: now)
    return isCancelled() ? nil : outcome
  }

  /// As ``explain(_:catalog:at:)``; nil when `isCancelled` returned true.
  package static func explain(
    _ record: CustomerRecord, catalog: Catalog, at now: Milliseconds,
    isCancelled: @escaping () -> Bool
  ) -> Explanation? {
    if isCancelled() { return nil }
    let explanation = explain(record, catalog: catalog, at: now)
    return isCancelled() ? nil : explanation
  }
}
