/// What became of questions for the status of certificates.
package struct StatusStatistics: Hashable, Sendable {
  /// Questions that were sent.
  package var asked = 0
  package var good = 0
  package var revoked = 0
  /// Answers of responders that do not know the certificate.
  package var unknown = 0
  /// Answers that do not count.
  package var unusable = 0
  /// Questions without an answer.
  package var unreachable = 0
  /// Certificates that name no responder.
  package var withoutResponder = 0
  /// Questions that were not sent because too many were under way.
  package var turnedAway = 0
  /// Questions that memory answered.
  package var hits = 0
  /// Questions that waited for the answer to the same one.
  package var joined = 0
  /// Payloads for which nothing was decided: soft passed them, strict did not.
  package var undecided = 0
  /// Certificates in memory now.
  package var entries = 0

  package init() {}
}
