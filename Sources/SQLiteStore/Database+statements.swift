import EntitlementDomain
import EntitlementStore
import FoundationEssentials
import GRDB

extension Database {
  func run(_ statement: StoreStatement, _ arguments: StatementArguments) throws {
    try cachedStatement(sql: statement.rawValue).execute(arguments: arguments)
  }

  /// The first row, or nil.
  func row(_ statement: StoreStatement, _ arguments: StatementArguments) throws -> Row? {
    try Row.fetchOne(cachedStatement(sql: statement.rawValue), arguments: arguments)
  }

  func rows(_ statement: StoreStatement, _ arguments: StatementArguments) throws -> [Row] {
    try Row.fetchAll(cachedStatement(sql: statement.rawValue), arguments: arguments)
  }

  /// Calls `body` with each row without copying it. A row is valid only during the call.
  func forEachRow(
    _ statement: StoreStatement, _ arguments: StatementArguments, _ body: (Row) throws -> Void
  ) throws {
    try Row.fetchCursor(cachedStatement(sql: statement.rawValue), arguments: arguments)
      .forEach(body)
  }
}

extension Row {
  /// A blob column as bytes; empty for NULL, which no blob column allows.
  func bytes(_ index: Int) throws -> [UInt8] {
    try withUnsafeData(atIndex: index) { data in data.map { [UInt8]($0) } ?? [] }
  }

  /// - Throws: ``StoreError/Code/corrupt`` unless the column has 32 bytes.
  func digest(_ index: Int) throws -> PayloadDigest {
    let bytes = try bytes(index)
    guard bytes.count == 32 else {
      throw StoreError(.corrupt, "a stored digest has \(bytes.count) bytes")
    }
    return PayloadDigest(bytes)
  }

  /// - Throws: ``StoreError/Code/corrupt`` when the environment is not known.
  func scope(bundleID: Int, environment: Int) throws -> AppScope {
    guard let environment = StoreEnvironment(rawValue: self[environment]) else {
      throw StoreError(.corrupt, "a stored environment is not known")
    }
    return AppScope(bundleID: identifier(bundleID), environment: environment)
  }

  func identifier<Kind>(_ index: Int) -> Identifier<Kind> {
    Identifier(self[index] as String)
  }

  func identifier<Kind>(_ index: Int) -> Identifier<Kind>? {
    (self[index] as String?).map { Identifier($0) }
  }
}

// SQLite receives text as a C string. A NUL would truncate it, and two different identifiers would
// become equal. Apple's identifiers contain no NUL, so such text is rejected.
extension String {
  var stored: DatabaseValue {
    get throws {
      guard !utf8.contains(0) else {
        throw StoreError(.internalFault, "an identifier contains a NUL character")
      }
      return databaseValue
    }
  }
}

extension Identifier {
  var stored: DatabaseValue {
    get throws { try rawValue.stored }
  }
}

extension [UInt8] {
  var stored: DatabaseValue { Data(self).databaseValue }
}

extension PayloadDigest {
  var stored: DatabaseValue { bytes.stored }
}
