/// What the issuers' word on their certificates counts for (OCSP, RFC 6960).
package enum StatusPolicy: String, CaseIterable, Sendable {
  /// Nobody is asked.
  case off
  /// A revoked certificate is refused; where there is no answer that can be used, the payload
  /// passes.
  case soft
  /// A revoked certificate is refused; where there is no answer that can be used, nothing is
  /// decided: ``Verdict/retryable``.
  case strict
}
