/// Why an exchange with the database failed.
struct PostgresFailure: Error, Hashable, Sendable, CustomStringConvertible {
  enum Kind: Hashable, Sendable {
    /// The server refused a command. The connection lives on.
    case server(SQLState)
    /// The connection ended before the answer was there.
    case connectionLost
    /// The answer did not come in time. The connection was closed: what the server made of it is
    /// not known.
    case timedOut
    /// There was no connection within the time limit, as none can be made. The message says why.
    case cannotConnect
    /// All connections were busy for the whole of the time limit.
    case poolTimedOut
    /// More calls wait already than may.
    case overloaded
    /// The task was cancelled. Nothing was sent, or it was a read.
    case cancelled
    /// The pool was closed.
    case closed
    /// The server sent what this program does not expect, or a value is not of the type asked for.
    case protocolViolation
  }

  let kind: Kind
  /// For the log: never has SQL, values or passwords.
  let message: String
  /// Whether the commands had begun to leave: without it, the server has seen nothing of them.
  let wasSent: Bool
  /// Which command of the exchange failed, when that is known.
  let command: Int?
  /// What the server said with its last words, also where ``kind`` is ``Kind/connectionLost``.
  let state: SQLState?
  /// The constraint that was violated.
  let constraint: String?

  init(
    _ kind: Kind, _ message: String, wasSent: Bool = false, command: Int? = nil,
    state: SQLState? = nil, constraint: String? = nil
  ) {
    self.kind = kind
    self.message = message
    self.wasSent = wasSent
    self.command = command
    self.constraint = constraint
    if case .server(let told) = kind { self.state = told } else { self.state = state }
  }

  var description: String { message }

  /// The same failure, of an exchange that had begun to leave or had not.
  func sent(_ wasSent: Bool) -> PostgresFailure {
    PostgresFailure(
      kind, message, wasSent: wasSent, command: command, state: state, constraint: constraint)
  }
}
