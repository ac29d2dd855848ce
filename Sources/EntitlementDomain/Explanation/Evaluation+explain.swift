extension Evaluation {
  /// Why a customer's state is what it is (R31).
  ///
  /// The state within it is exactly that of ``state(of:catalog:at:)``, and all else is told from
  /// the same verdicts: nothing is decided a second time.
  package static func explain(
    _ record: CustomerRecord, catalog: Catalog, at now: Milliseconds
  ) -> Explanation {
    let history = History(record, catalog: catalog)
    let state = evaluate(history, of: record, at: now).state
    return Explainer(history: history, record: record, catalog: catalog, state: state)
      .explanation()
  }
}
