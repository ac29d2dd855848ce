import EntitlementDomain

@testable import EntitlementService

extension CustomerReader {
  /// A whole batch, from memory and from the store.
  func answers(
    to selectors: [CustomerSelector], in scope: AppScope,
    consistency: Consistency = .minimizeLatency
  ) async throws(ServiceError) -> [HeldAnswer<Encoded>] {
    try await answers(
      completing: heldAnswers(to: selectors, in: scope, consistency: consistency))
  }
}
