import Cryptography
import EntitlementDomain
import Foundation
import Programs
import Verification
import Wire

/// A row of a file of accounts, or why it is none.
struct AccountFileRow: Hashable {
  /// Of its first byte, from 1.
  var line: Int64
  var content: Result<ImportedAccount, Problem>

  struct Problem: Error, Hashable {
    let description: String

    init(_ description: String) { self.description = description }
  }
}

/// What is the same for all rows of a file.
struct AccountFileDefaults: Hashable {
  /// A row that names another app is none of this import.
  var bundleID: BundleID
  /// Of rows without one; nil: Production, and the Sandbox if Production does not know the transaction.
  var environment: StoreEnvironment?
}

/// Reads accounts from CSV with a header (RFC 4180) or from JSON lines, in UTF-8, a piece at a time. Memory
/// holds one record.
///
/// The first byte that is no white space decides: `{` begins JSON lines.
struct AccountFileReader {
  /// Bytes of one record. A receipt of a customer with thousands of purchases has more than a megabyte.
  static let maximumRecord = 8 << 20

  private let defaults: AccountFileDefaults
  private var bytes: RecordReader
  private var header: [String]?

  /// - Parameter next: the next piece of the file; nil at its end.
  init(_ defaults: AccountFileDefaults, next: @escaping () throws -> [UInt8]?) {
    self.defaults = defaults
    bytes = RecordReader(next: next)
  }

  /// - Returns: nil at the end of the file.
  /// - Throws: ``CommandFailure`` when the file has no header that names the columns; errors of the piece.
  mutating func next() throws -> AccountFileRow? {
    if try bytes.isJSON() { return try nextLine() }
    if header == nil {
      guard let record = try bytes.nextRecord() else {
        throw CommandFailure(.failed, "the file is empty")
      }
      header = try Self.columns(of: record.content)
    }
    while let record = try bytes.nextRecord() {
      if case .fields(let fields) = record.content, fields == [""] { continue }
      return row(record.line, record.content)
    }
    return nil
  }

  // MARK: Records

  private static let columns: Set = [
    "account_id", "transaction_id", "receipt", "app_account_token", "environment", "bundle_id",
  ]

  private static func columns(of content: RecordReader.Content) throws -> [String] {
    guard case .fields(let fields) = content else {
      throw CommandFailure(.failed, "line 1: the header of the file cannot be read")
    }
    let names = fields.map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
    let known = names.filter { columns.contains($0) }
    guard Set(known).count == known.count else {
      throw CommandFailure(.failed, "line 1: a column is there twice")
    }
    guard known.contains("account_id"),
      known.contains("transaction_id") || known.contains("receipt")
    else {
      throw CommandFailure(
        .failed,
        "line 1: the header needs account_id, and transaction_id or receipt; JSON lines begin with {"
      )
    }
    return names
  }

  private func row(_ line: Int64, _ content: RecordReader.Content) -> AccountFileRow {
    AccountFileRow(
      line: line,
      content: Result { () throws(AccountFileRow.Problem) in
        let header = header ?? []
        switch content {
        case .invalid(let problem): throw AccountFileRow.Problem(problem)
        case .fields(let fields):
          guard fields.count == header.count else {
            throw AccountFileRow.Problem(
              "\(fields.count) fields, where the header has \(header.count)")
          }
          return try account(line, Dictionary(zip(header, fields)) { first, _ in first })
        }
      })
  }

  private mutating func nextLine() throws -> AccountFileRow? {
    while let record = try bytes.nextLine() {
      if case .fields(let fields) = record.content,
        fields[0].allSatisfy({ $0 == " " || $0 == "\t" })
      {
        continue
      }
      return AccountFileRow(
        line: record.line,
        content: Result { () throws(AccountFileRow.Problem) in
          switch record.content {
          case .invalid(let problem): throw AccountFileRow.Problem(problem)
          case .fields(let fields):
            guard let object = try? JSONDecoder().decode(JSONRow.self, from: Data(fields[0].utf8))
            else { throw AccountFileRow.Problem("not a JSON object of texts and whole numbers") }
            return try account(record.line, object.fields)
          }
        })
    }
    return nil
  }

  /// A line of JSON: the known members.
  private struct JSONRow: Decodable {
    var fields: [String: String] = [:]

    private struct Name: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }

      init?(stringValue: String) { self.stringValue = stringValue }

      init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: Name.self)
      for name in members.allKeys where columns.contains(name.stringValue) {
        if try members.decodeNil(forKey: name) { continue }
        // Ids are often written as numbers.
        if let number = try? members.decode(Int64.self, forKey: name) {
          fields[name.stringValue] = "\(number)"
        } else {
          fields[name.stringValue] = try members.decode(String.self, forKey: name)
        }
      }
    }
  }

  private func account(
    _ line: Int64, _ fields: [String: String]
  ) throws(AccountFileRow.Problem) -> ImportedAccount {
    func text(_ name: String) throws(AccountFileRow.Problem) -> String? {
      guard let text = fields[name], !text.isEmpty else { return nil }
      guard name == "receipt" || text.utf8.count <= 256 else {
        throw AccountFileRow.Problem("\(name) has more than 256 bytes")
      }
      guard !text.utf8.contains(0) else { throw AccountFileRow.Problem("\(name) contains a NUL") }
      return text
    }
    if let app = try text("bundle_id"), app != defaults.bundleID.rawValue {
      throw AccountFileRow.Problem("the row is of another app")
    }
    guard let account = try text("account_id") else {
      throw AccountFileRow.Problem("account_id is missing")
    }
    var environment = defaults.environment
    if let name = try text("environment") {
      switch name.lowercased() {
      case "production": environment = .production
      case "sandbox": environment = .sandbox
      default: throw AccountFileRow.Problem("environment is neither production nor sandbox")
      }
    }
    var transaction = try text("transaction_id").map { TransactionID($0) }
    if transaction == nil, let receipt = try text("receipt") {
      transaction = try self.transaction(inReceipt: receipt)
    }
    guard let transaction else {
      throw AccountFileRow.Problem("transaction_id and receipt are missing")
    }
    return ImportedAccount(
      row: line, accountID: AccountID(account), transactionID: transaction,
      appAccountToken: try text("app_account_token").map { AppAccountToken($0) },
      environment: environment ?? .production, asksSandboxToo: environment == nil)
  }

  /// A transaction of a receipt. It only tells whom to ask for: what counts is what the App Store signs. So
  /// the receipt is read, and not verified, and does not leave this machine.
  private func transaction(
    inReceipt text: String
  ) throws(AccountFileRow.Problem) -> TransactionID {
    let receipt: Receipt
    do throws(Refusal) {
      receipt = try InspectedReceipt(Array(text.utf8)).receipt
    } catch {
      throw AccountFileRow.Problem("the receipt cannot be read: \(error.detail)")
    }
    guard receipt.bundleID == defaults.bundleID else {
      throw AccountFileRow.Problem("the receipt is of another app")
    }
    guard let transaction = receipt.items.lazy.compactMap(\.transactionID).first else {
      throw AccountFileRow.Problem("the receipt has no purchase")
    }
    return transaction
  }
}

/// Splits a file into records of CSV, or into lines.
struct RecordReader {
  enum Content: Hashable {
    case fields([String])
    case invalid(String)
  }

  struct Record: Hashable {
    var line: Int64
    var content: Content
  }

  private let next: () throws -> [UInt8]?
  private var piece: [UInt8] = []
  private var position = 0
  private var isAtStart = true
  private var beginsJSON: Bool?
  /// The line of the next byte.
  private var line: Int64 = 1

  init(next: @escaping () throws -> [UInt8]?) {
    self.next = next
  }

  /// Whether the file begins as JSON.
  mutating func isJSON() throws -> Bool {
    if let beginsJSON { return beginsJSON }
    var byte = try peek()
    while let space = byte, [0x20, 0x09, 0x0A, 0x0D].contains(space) {
      _ = try take()
      byte = try peek()
    }
    beginsJSON = byte == UInt8(ascii: "{")
    return beginsJSON == true
  }

  /// A record of CSV; nil at the end.
  mutating func nextRecord() throws -> Record? {
    guard try peek() != nil else { return nil }
    let first = line
    var fields: [String] = []
    var field: [UInt8] = []
    var length = 0
    var isQuoted = false
    var problem: String?
    func end() {
      if let text = String(validating: field, as: UTF8.self) {
        fields.append(text)
      } else {
        problem = problem ?? "not UTF-8"
      }
      field = []
    }
    while let byte = try take() {
      length += 1
      if length > AccountFileReader.maximumRecord {
        try skipLine(after: byte)
        return Record(line: first, content: .invalid(Self.tooLong))
      }
      if isQuoted {
        if byte != UInt8(ascii: "\"") {
          field.append(byte)
        } else if try peek() == UInt8(ascii: "\"") {
          _ = try take()
          field.append(byte)
        } else {
          isQuoted = false
          let following = try peek()
          if let following, ![0x2C, 0x0A, 0x0D].contains(following) {
            problem = "a quoted field goes on after its closing quote"
          }
        }
        continue
      }
      switch byte {
      case UInt8(ascii: ","): end()
      case 0x0A:
        end()
        return Record(line: first, content: problem.map { .invalid($0) } ?? .fields(fields))
      case 0x0D where try peek() == 0x0A || peek() == nil: break
      case UInt8(ascii: "\"") where field.isEmpty: isQuoted = true
      case UInt8(ascii: "\""):
        problem = "a quote inside a field that is not quoted"
      default: field.append(byte)
      }
    }
    if isQuoted { problem = "a quoted field has no end" }
    end()
    return Record(line: first, content: problem.map { .invalid($0) } ?? .fields(fields))
  }

  /// A line as one field; nil at the end.
  mutating func nextLine() throws -> Record? {
    guard try peek() != nil else { return nil }
    let first = line
    var bytes: [UInt8] = []
    while let byte = try take(), byte != 0x0A {
      bytes.append(byte)
      if bytes.count > AccountFileReader.maximumRecord {
        try skipLine(after: byte)
        return Record(line: first, content: .invalid(Self.tooLong))
      }
    }
    if bytes.last == 0x0D { bytes.removeLast() }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return Record(line: first, content: .invalid("not UTF-8"))
    }
    return Record(line: first, content: .fields([text]))
  }

  // MARK: Bytes

  private static let tooLong = "longer than \(AccountFileReader.maximumRecord >> 20) MiB"

  private mutating func skipLine(after byte: UInt8) throws {
    var byte: UInt8? = byte
    while let taken = byte, taken != 0x0A { byte = try take() }
  }

  private mutating func peek() throws -> UInt8? {
    while position == piece.count {
      guard let read = try next() else { return nil }
      piece = read
      position = 0
      if isAtStart {
        isAtStart = false
        while piece.count < 3, let more = try next() { piece += more }
        // A byte order mark, which some exports begin with.
        if piece.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
      }
    }
    return piece[position]
  }

  private mutating func take() throws -> UInt8? {
    guard let byte = try peek() else { return nil }
    position += 1
    if byte == 0x0A { line += 1 }
    return byte
  }
}

/// A file of accounts on the disk, or stdin.
enum AccountFile {
  private static let piece = 1 << 20

  /// Reads a file a piece at a time.
  ///
  /// - Parameter path: `-` is stdin.
  /// - Throws: ``CommandFailure`` when it cannot be opened. The closure throws one when it cannot be read.
  static func pieces(of path: String) throws(CommandFailure) -> () throws -> [UInt8]? {
    let handle: FileHandle
    do {
      handle =
        path == "-"
        ? FileHandle.standardInput
        : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    } catch {
      throw CommandFailure(.failed, "\(path): cannot be read")
    }
    return {
      do {
        let data = try handle.read(upToCount: piece) ?? Data()
        return data.isEmpty ? nil : [UInt8](data)
      } catch {
        throw CommandFailure(.failed, "\(path): cannot be read")
      }
    }
  }

  /// The id of the import of a file: 32 hexadecimal digits of a digest of its bytes, its app and its
  /// environment. So the same command continues the import that it began.
  static func importID(of path: String, _ defaults: AccountFileDefaults) throws -> String {
    let next = try pieces(of: path)
    var digest = try SHA256.digest(
      of: Array("\(defaults.bundleID)\n\(defaults.environment?.rawValue ?? "")".utf8))
    while let piece = try next() { digest = try SHA256.digest(of: digest.bytes + piece) }
    return String("\(digest)".prefix(32))
  }
}
