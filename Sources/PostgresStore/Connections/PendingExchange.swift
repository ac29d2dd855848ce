/// An exchange on the pool's thread, until it is answered.
final class PendingExchange {
  let exchange: PostgresExchange
  /// How often it was sent.
  var attempts = 0
  /// Whether it is not to share a flight with others.
  var travelsAlone = false
  private var answer: ((ExchangeResult) -> Void)?
  private var continuation: ExchangeContinuation?

  init(_ exchange: PostgresExchange, continuation: ExchangeContinuation) {
    self.exchange = exchange
    self.continuation = continuation
  }

  /// One of the pool's own, which is answered on its thread.
  init(_ exchange: PostgresExchange, answer: @escaping (ExchangeResult) -> Void) {
    self.exchange = exchange
    self.answer = answer
  }

  var isAnswered: Bool { continuation == nil && answer == nil }

  /// Answers once; what comes later is dropped.
  func answer(_ result: ExchangeResult) {
    let (continuation, answer) = (continuation, answer)
    (self.continuation, self.answer) = (nil, nil)
    continuation?.resume(returning: result)
    answer?(result)
  }

  func fail(_ failure: PostgresFailure) { answer(.failure(failure)) }
}
