import CPostgres

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

/// The five characters that say what went wrong (PostgreSQL manual, appendix A).
struct SQLState: Hashable, Sendable, CustomStringConvertible {
  let code: String

  init(_ code: String) { self.code = code }

  /// The first two characters: the class of the error.
  var category: Substring { code.prefix(2) }

  var description: String { code }
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
}

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

/// The fields of an error or a notice (`PG_DIAG_…` of `postgres_ext.h`).
enum ResultFields {
  enum Field: Character {
    /// Never translated, unlike `S`.
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
    // All are ASCII.
    let code = CInt(field.rawValue.asciiValue ?? 0)
    return PQresultErrorField(result, code).map { String(cString: $0) }
  }
}

extension String {
  /// Without the white space at its end, and in one line: libpq's texts end with a line feed.
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
