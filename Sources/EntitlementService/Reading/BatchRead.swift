package import EntitlementDomain
import NIOCore
import Synchronization
package import Traces
package import Workers

/// A query for several customers of an app. Each is answered as by a query for it alone.
package struct BatchQuery: Sendable {
  package var selectors: [CustomerSelector]
  package var scope: AppScope
  package var consistency: Consistency
  /// The moment of the states; nil: now.
  package var at: Milliseconds?
  /// What the states of ``at`` are computed from.
  package var knowledge: Knowledge
  /// Where the query comes from.
  package var source: WorkSource
  /// Nil unless its call is traced.
  package var span: CallSpan?

  package init(
    selectors: [CustomerSelector], scope: AppScope, consistency: Consistency = .minimizeLatency,
    at: Milliseconds? = nil, knowledge: Knowledge = .signedByThen, source: WorkSource = .server,
    span: CallSpan? = nil
  ) {
    self.selectors = selectors
    self.scope = scope
    self.consistency = consistency
    self.at = at
    self.knowledge = knowledge
    self.source = source
    self.span = span
  }

  func query(_ selector: CustomerSelector) -> CustomerQuery {
    CustomerQuery(
      selector: selector, scope: scope, consistency: consistency, at: at, knowledge: knowledge)
  }
}

/// A batch that needs the store. Its caller is called once, when every customer has an answer or an
/// error.
final class BatchRead: Sendable {
  /// Waits for the answer about one customer.
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

    var eventLoop: (any EventLoop)? { nil }

    var source: WorkSource { batch.query.source }

    var span: CallSpan? { batch.query.span }

    func finish(_ result: Result<CustomerAnswer, ServiceError>) {
      batch.finished(index, result)
    }
  }

  let query: BatchQuery
  let finish: @Sendable (Result<[CustomerAnswer], ServiceError>) -> Void
  let isWaiting: @Sendable () -> Bool
  /// The query's selectors without duplicates.
  private let selectors: [CustomerSelector]
  /// For each selector of the query, its index in `selectors`.
  private let order: [Int]

  private struct State {
    var results: [Result<CustomerAnswer, ServiceError>?]
    var missing: Int
  }

  private let state: Mutex<State>

  init(
    _ query: BatchQuery,
    finish: @escaping @Sendable (Result<[CustomerAnswer], ServiceError>) -> Void,
    isWaiting: @escaping @Sendable () -> Bool
  ) {
    self.query = query
    self.finish = finish
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

  /// A slot for each customer. Each must be finished once.
  var slots: [Slot] {
    selectors.enumerated().map { Slot($1, self, index: $0) }
  }

  /// The batch fails if a customer's read failed. Its error is the first in the order of the query.
  private func finished(_ index: Int, _ result: Result<CustomerAnswer, ServiceError>) {
    let results = state.withLock { state -> [Result<CustomerAnswer, ServiceError>?]? in
      state.results[index] = result
      state.missing -= 1
      guard state.missing == 0 else { return nil }
      defer { state.results = [] }
      return state.results
    }
    guard let results else { return }
    finish(
      Result { () throws(ServiceError) in
        var answers: [CustomerAnswer] = []
        answers.reserveCapacity(order.count)
        for index in order {
          // Every result is set, because none is missing.
          if let result = results[index] { answers.append(try result.get()) }
        }
        return answers
      })
  }
}
