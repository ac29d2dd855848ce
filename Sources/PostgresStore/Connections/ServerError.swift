import CPostgres

/// An error as the server tells it.
struct ServerError {
  let state: SQLState
  /// Whether it is the last thing that the server says on this connection.
  let isFatal: Bool
  /// Whether the plan of a prepared statement does not fit the tables any more. The SQLSTATE has
  /// other uses too, and the text is translated; the name of the function that says so is not.
  let isStalePlan: Bool
  let constraint: String?
  private let message: String

  /// Nil when it is no error of the server, but trouble of libpq with the connection.
  init?(_ result: OpaquePointer) {
    guard let code = ResultFields.text(result, .state) else { return nil }
    state = SQLState(code)
    let severity = ResultFields.text(result, .severity)
    isFatal = severity == "FATAL" || severity == "PANIC"
    isStalePlan =
      state == .featureNotSupported
      && ResultFields.text(result, .routine) == "RevalidateCachedQuery"
    constraint = ResultFields.text(result, .constraint)
    message = Self.message(state, result)
  }

  /// Whether it says that this connection, and those made at the same time, are of no use: the
  /// server goes down or is no primary, or its statements are not those that were prepared.
  var discreditsConnections: Bool {
    isStalePlan
      || [
        .readOnlyTransaction, .adminShutdown, .crashShutdown, .cannotConnectNow, .unknownStatement,
        .duplicateStatement,
      ].contains(state)
  }

  /// Whether the same read may well succeed on another connection.
  var isOfConnection: Bool { isFatal || discreditsConnections }

  func failure(of command: PostgresStatement?, at index: Int?) -> PostgresFailure {
    let text = command.map { "\($0.name): \(message)" } ?? message
    // After its last words the server may or may not have gone on with what it had in hand.
    return PostgresFailure(
      isFatal ? .connectionLost : .server(state), text, wasSent: true, command: index,
      state: state, constraint: constraint)
  }

  /// Classes whose texts never quote a value or a statement: connection, transaction state,
  /// authorisation, database name, rollback, resources, state of an object, intervention, system.
  private static let plainClasses: Set<String> = [
    "08", "25", "28", "3D", "40", "53", "55", "57", "58",
  ]

  private static func message(_ state: SQLState, _ result: OpaquePointer) -> String {
    var text = "the database refused with SQLSTATE \(state)"
    if plainClasses.contains(String(state.category)) {
      text += " (\(ResultFields.text(result, .message)?.trimmed ?? "no text"))"
    }
    let places: [(String, ResultFields.Field)] = [
      ("schema", .schema), ("table", .table), ("column", .column), ("constraint", .constraint),
      ("position", .position), ("routine", .routine),
    ]
    for (name, field) in places {
      if let place = ResultFields.text(result, field) { text += ", \(name) \(place)" }
    }
    return text
  }
}
