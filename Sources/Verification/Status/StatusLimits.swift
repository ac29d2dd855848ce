package import EntitlementDomain

/// What asking for the status of certificates may cost, each limit with its reason. Moments are told
/// by the clock that payloads are judged by.
package enum StatusLimits {
  /// Certificates whose status is remembered. Apple uses two to four at a time, tests and simulators
  /// a few; the least recently used makes room.
  package static let rememberedCertificates = 256
  /// Questions under way at a time. More would mean a flood of signers: those beyond it have no
  /// answer, at once.
  package static let questions = 32
  /// How long an answer is used at most, 24 hours, whatever it allows itself: Apple's say a few
  /// hours to days, and a revocation is to be heard of within a day.
  package static let longestMemory: Milliseconds = 86_400_000
  /// How long a question without a usable answer is not repeated, 30 seconds: a responder that is
  /// down is not asked for each payload, and a repaired one soon is.
  package static let backOff: Milliseconds = 30_000
}
