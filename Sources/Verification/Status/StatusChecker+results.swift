package import EntitlementDomain

extension StatusChecker {
  /// Refuses those payloads of a batch, all verified, whose certificates do not pass.
  ///
  /// - Parameters:
  ///   - now: the moment that answers are judged at.
  ///   - chains: what vouches for a payload.
  /// - Returns: the results, in their order.
  package func judge<Payload>(
    _ results: [Result<Payload, Refusal>], now: Milliseconds,
    chains: (Payload) -> [CertificateChain]
  ) async -> [Result<Payload, Refusal>] {
    let refusals = await refusals(
      of: results.map { result in
        // Nothing vouches for what was refused.
        if case .success(let payload) = result { chains(payload) } else { [] }
      }, now: now)
    return zip(results, refusals).map { result, refusal in
      refusal.map { .failure($0) } ?? result
    }
  }
}
