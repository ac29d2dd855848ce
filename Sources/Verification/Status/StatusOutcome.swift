/// What is known of a certificate's status.
enum StatusOutcome: Hashable, Sendable {
  case good
  /// - Parameter reason: as the issuer gives it; nil where it gives none.
  case revoked(reason: String?)
  /// - Parameter why: for people, without full stop.
  case undecided(why: String)
}
