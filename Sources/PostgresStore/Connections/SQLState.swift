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
