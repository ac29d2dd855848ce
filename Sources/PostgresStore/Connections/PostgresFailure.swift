import CPostgres

/// Why an exchange with the database failed.
struct PostgresFailure: Error, Hashable, Sendable, CustomStringConvertible {
  enum Kind: Hashable, Sendable {
    /// The server refused a command. The connection remains usable.
    case server(SQLState)
    /// The connection ended before the answer arrived.
    case connectionLost
    /// The deadline passed and the connection was closed. The outcome on the server is unknown.
    case timedOut
    /// No connection could be made within the time limit. The message has the reason.
    case cannotConnect
    /// All connections were busy for the whole time limit.
    case poolTimedOut
    /// Too many calls were waiting.
    case overloaded
    /// The task was cancelled. Either nothing was sent, or it was a read.
    case cancelled
    /// The pool was closed.
    case closed
    /// An unexpected response, or a value of another type than requested.
    case protocolViolation
  }

  let kind: Kind
  /// For the log. Contains no SQL, values or passwords.
  let message: String
  /// Whether sending had begun. If false, the server has received none of the commands.
  let wasSent: Bool
  /// The index of the failed command in the exchange, if known.
  let command: Int?
  /// The SQLSTATE of the server's last message, also for ``Kind/connectionLost``.
  let state: SQLState?
  /// The violated constraint.
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
    if case .server(let reported) = kind { self.state = reported } else { self.state = state }
  }

  var description: String { message }

  /// The same failure with another value of ``wasSent``.
  func sent(_ wasSent: Bool) -> PostgresFailure {
    PostgresFailure(
      kind, message, wasSent: wasSent, command: command, state: state, constraint: constraint)
  }
}

/// The five characters of an SQLSTATE (PostgreSQL manual, appendix A).
struct SQLState: Hashable, Sendable, CustomStringConvertible {
  let code: String

  init(_ code: String) { self.code = code }

  /// The first two characters: the class of the error.
  var category: Substring { code.prefix(2) }

  var description: String { code }

  /// Whether the server found a damaged page or index: `data_corrupted`, `index_corrupted`.
  var saysDamage: Bool { self == .dataCorrupted || self == .indexCorrupted }
}

extension SQLState {
  static let serializationFailure = SQLState("40001")
  static let deadlockDetected = SQLState("40P01")
  static let lockNotAvailable = SQLState("55P03")
  static let queryCanceled = SQLState("57014")
  static let readOnlyTransaction = SQLState("25006")
  static let failedTransaction = SQLState("25P02")
  static let featureNotSupported = SQLState("0A000")
  static let uniqueViolation = SQLState("23505")
  static let diskFull = SQLState("53100")
  static let outOfMemory = SQLState("53200")
  static let tooManyConnections = SQLState("53300")
  static let unknownStatement = SQLState("26000")
  static let duplicateStatement = SQLState("42P05")
  static let undefinedTable = SQLState("42P01")
  static let adminShutdown = SQLState("57P01")
  static let crashShutdown = SQLState("57P02")
  static let cannotConnectNow = SQLState("57P03")
  static let dataCorrupted = SQLState("XX001")
  static let indexCorrupted = SQLState("XX002")
}

/// An error reported by the server.
struct ServerError {
  let state: SQLState
  /// Whether the server closes the connection after this error.
  let isFatal: Bool
  /// Whether the plan of a prepared statement no longer fits its tables. The SQLSTATE has other
  /// uses and the message is localised, so the name of the reporting function identifies it.
  let isStalePlan: Bool
  let constraint: String?
  private let message: String

  /// Nil when the result is no server error but a failure of the connection in libpq.
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

  /// Whether this connection and others of its generation are unusable: the server shuts down or is
  /// no primary, or its prepared statements differ from the expected ones.
  var invalidatesConnections: Bool {
    isStalePlan
      || [
        .readOnlyTransaction, .adminShutdown, .crashShutdown, .cannotConnectNow, .unknownStatement,
        .duplicateStatement,
      ].contains(state)
  }

  /// Whether the same read may succeed on another connection.
  var isConnectionSpecific: Bool { isFatal || invalidatesConnections }

  func failure(of command: PostgresStatement?, at index: Int?) -> PostgresFailure {
    let text = command.map { "\($0.name): \(message)" } ?? message
    // After a fatal error it is unknown whether the server finished the command.
    return PostgresFailure(
      isFatal ? .connectionLost : .server(state), text, wasSent: true, command: index,
      state: state, constraint: constraint)
  }

  /// SQLSTATE classes whose messages never quote a value or a statement: connection, transaction
  /// state, authorisation, database name, rollback, resources, object state, intervention, system.
  private static let plainClasses: Set<String> = [
    "08", "25", "28", "3D", "40", "53", "55", "57", "58",
  ]

  private static func message(_ state: SQLState, _ result: OpaquePointer) -> String {
    var text = "the database reported SQLSTATE \(state)"
    if plainClasses.contains(String(state.category)) {
      text += " (\(ResultFields.text(result, .message)?.trimmed ?? "no text"))"
    }
    let locations: [(String, ResultFields.Field)] = [
      ("schema", .schema), ("table", .table), ("column", .column), ("constraint", .constraint),
      ("position", .position), ("routine", .routine),
    ]
    for (name, field) in locations {
      if let value = ResultFields.text(result, field) { text += ", \(name) \(value)" }
    }
    return text
  }
}

/// The fields of an error or a notice (`PG_DIAG_…` in `postgres_ext.h`).
enum ResultFields {
  enum Field: Character {
    /// Never localised, unlike `S`.
    case severity = "V"
    case state = "C"
    case message = "M"
    case position = "P"
    case schema = "s"
    case table = "t"
    case column = "c"
    case constraint = "n"
    case routine = "R"
  }

  static func text(_ result: OpaquePointer, _ field: Field) -> String? {
    // All raw values are ASCII.
    let code = CInt(field.rawValue.asciiValue ?? 0)
    return PQresultErrorField(result, code).map { String(cString: $0) }
  }
}

extension String {
  /// The text in one line, without leading and trailing white space. Messages of libpq end with a
  /// line feed.
  var trimmed: String {
    var lines = split(whereSeparator: \.isNewline).map { line in
      var line = line
      while line.last?.isWhitespace == true { line.removeLast() }
      while line.first?.isWhitespace == true { line.removeFirst() }
      return line
    }
    lines.removeAll(where: \.isEmpty)
    return lines.joined(separator: " ")
  }
}
