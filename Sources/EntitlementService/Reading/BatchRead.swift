package import EntitlementDomain
import Synchronization

/// Questions about several customers of an app. The answers are what each alone would be.
package struct BatchQuery: Sendable {
  package var selectors: [CustomerSelector]
  package var scope: AppScope
  package var consistency: Consistency
  /// The moment asked about; nil: now.
  package var at: Milliseconds?

  package init(
    selectors: [CustomerSelector], scope: AppScope, consistency: Consistency = .minimizeLatency,
    at: Milliseconds? = nil
  ) {
    self.selectors = selectors
    self.scope = scope
    self.consistency = consistency
    self.at = at
  }

  func query(_ selector: CustomerSelector) -> CustomerQuery {
    CustomerQuery(selector: selector, scope: scope, consistency: consistency, at: at)
  }
}

/// A batch that needs the store, until its caller is told: once, when each of its customers has an
/// answer, or none.
final class BatchRead: Sendable {
  /// Waits for one of the customers.
  final class Slot: ReadWaiter {
    let selector: CustomerSelector
    private let batch: BatchRead
    private let index: Int

    fileprivate init(_ selector: CustomerSelector, _ batch: BatchRead, index: Int) {
      self.selector = selector
      self.batch = batch
      self.index = index
    }

    var isWaiting: Bool { batch.isWaiting() }

    func finish(_ result: Result<CustomerAnswer, ServiceError>) {
      batch.finished(index, result)
    }
  }

  let query: BatchQuery
  let tell: @Sendable (Result<[CustomerAnswer], ServiceError>) -> Void
  let isWaiting: @Sendable () -> Bool
  /// Each customer once.
  private let selectors: [CustomerSelector]
  /// Of the selectors, where each of the query's is.
  private let order: [Int]

  private struct State {
    var results: [Result<CustomerAnswer, ServiceError>?]
    var missing: Int
  }

  private let state: Mutex<State>

  init(
    _ query: BatchQuery, tell: @escaping @Sendable (Result<[CustomerAnswer], ServiceError>) -> Void,
    isWaiting: @escaping @Sendable () -> Bool
  ) {
    self.query = query
    self.tell = tell
    self.isWaiting = isWaiting
    var indexes: [CustomerSelector: Int] = [:]
    var selectors: [CustomerSelector] = []
    order = query.selectors.map { selector in
      if let index = indexes[selector] { return index }
      indexes[selector] = selectors.count
      selectors.append(selector)
      return selectors.count - 1
    }
    self.selectors = selectors
    state = Mutex(
      State(results: Array(repeating: nil, count: selectors.count), missing: selectors.count))
  }

  /// One for each customer. Each must be finished once.
  var slots: [Slot] {
    selectors.enumerated().map { Slot($1, self, index: $0) }
  }

  /// The batch has no answer when one of its customers has none: that of the first.
  private func finished(_ index: Int, _ result: Result<CustomerAnswer, ServiceError>) {
    let results = state.withLock { state -> [Result<CustomerAnswer, ServiceError>?]? in
      state.results[index] = result
      state.missing -= 1
      guard state.missing == 0 else { return nil }
      defer { state.results = [] }
      return state.results
    }
    guard let results else { return }
    tell(
      Result { () throws(ServiceError) in
        var answers: [CustomerAnswer] = []
        answers.reserveCapacity(order.count)
        for index in order {
          // All are there: none was missing.
          if let result = results[index] { answers.append(try result.get()) }
        }
        return answers
      })
  }
}
