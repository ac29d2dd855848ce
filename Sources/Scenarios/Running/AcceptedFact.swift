/// A fact that the service accepted, so that it can be handed in again.
struct AcceptedFact: Hashable {
  let jws: String
  /// Whom the submission named.
  let account: String?
}
