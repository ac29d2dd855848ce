/// A connection that is being made.
struct ConnectTicket: Hashable, Sendable {
  let number: Int
  let role: ConnectionRole
  /// That of the pool when it began.
  let generation: Int
}
