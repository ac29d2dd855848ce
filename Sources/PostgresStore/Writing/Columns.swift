import EntitlementDomain
import EntitlementStore

// Column-wise buffers of rows, in the form of a statement's parameters.

/// A text, or the bytes of a target or id.
protocol ColumnElement {
  static func column(_ values: [Self?]) -> PostgresValue
}

extension String: ColumnElement {
  static func column(_ values: [String?]) -> PostgresValue { .texts(values) }
}

extension [UInt8]: ColumnElement {
  static func column(_ values: [[UInt8]?]) -> PostgresValue { .byteStrings(values) }
}

struct Columns2<Element: ColumnElement> {
  private var numbers: [Int64?] = []
  private var elements: [Element?] = []

  var count: Int { numbers.count }
  var values: [PostgresValue] { [.int64s(numbers), Element.column(elements)] }

  mutating func add(_ number: Int64, _ element: Element) {
    numbers.append(number)
    elements.append(element)
  }
}

struct Columns3<First: ColumnElement, Second: ColumnElement> {
  private var numbers: [Int64?] = []
  private var elements: [First?] = []
  private var others: [Second?] = []

  var count: Int { numbers.count }
  var values: [PostgresValue] {
    [.int64s(numbers), First.column(elements), Second.column(others)]
  }

  mutating func add(_ number: Int64, _ element: First, _ other: Second) {
    numbers.append(number)
    elements.append(element)
    others.append(other)
  }
}

struct Columns4<Element: ColumnElement> {
  private var numbers: [Int64?] = []
  private var elements: [Element?] = []
  private var otherNumbers: [Int64?] = []
  private var others: [Element?] = []

  var count: Int { numbers.count }
  var values: [PostgresValue] {
    [
      .int64s(numbers), Element.column(elements), .int64s(otherNumbers), Element.column(others),
    ]
  }

  mutating func add(_ number: Int64, _ element: Element, _ otherNumber: Int64, _ other: Element) {
    numbers.append(number)
    elements.append(element)
    otherNumbers.append(otherNumber)
    others.append(other)
  }
}

/// The columns of ``WriteStatements/addFacts`` and ``WriteStatements/writeFacts``.
struct FactColumns {
  struct Row {
    let write: FactWrite
    let scope: Int64
    let header: Int64?
    let signature: [UInt8]
    let document: PayloadDigest?
    /// As it is stored.
    let payload: [UInt8]
  }

  private var scopes: [Int64?] = []
  private var targets: [[UInt8]?] = []
  private var kinds: [Int64?] = []
  private var identifiers: [[UInt8]?] = []
  private var authorities: [Int64?] = []
  private var headers: [Int64?] = []
  private var signedDates: [Int64?] = []
  private var revoked: [Bool?] = []
  private var upgraded: [Bool?] = []
  private var appTransactions: [[UInt8]?] = []
  private var tokens: [[UInt8]?] = []
  private var previousChains: [[UInt8]?] = []
  private var digests: [[UInt8]?] = []
  private var signatures: [[UInt8]?] = []
  private var documents: [[UInt8]?] = []
  private var payloads: [[UInt8]?] = []
  private var histories: [[UInt8]?] = []
  private var supplements: [[UInt8]?] = []

  var count: Int { scopes.count }

  var values: [PostgresValue] {
    [
      .int64s(scopes), .byteStrings(targets), .int64s(kinds), .byteStrings(identifiers),
      .int64s(authorities), .int64s(headers), .int64s(signedDates), .bools(revoked),
      .bools(upgraded), .byteStrings(appTransactions), .byteStrings(tokens),
      .byteStrings(previousChains), .byteStrings(digests), .byteStrings(signatures),
      .byteStrings(documents),
      .byteStrings(payloads), .byteStrings(histories), .byteStrings(supplements),
    ]
  }

  mutating func add(_ row: Row) {
    let write = row.write
    let key = write.signed.fact.key
    let precedence = write.signed.fact.precedence
    scopes.append(row.scope)
    targets.append(write.target.stored)
    kinds.append(Int64(key.kind.rawValue))
    identifiers.append(key.stored(in: write.target))
    authorities.append(Int64(precedence.authority.rawValue))
    headers.append(row.header)
    signedDates.append(precedence.signedDate.rawValue)
    revoked.append(precedence.isRevoked)
    upgraded.append(precedence.isUpgraded)
    appTransactions.append(
      write.hints.appTransactionID.map(\.packedBytes))
    tokens.append(write.hints.appAccountToken.map(\.packedBytes))
    previousChains.append(write.hints.previousChain.map(\.packedBytes))
    digests.append(precedence.digest.bytes)
    signatures.append(row.signature)
    documents.append(row.document?.bytes)
    payloads.append(row.payload)
    histories.append(write.history?.encoded)
    supplements.append(write.supplement)
  }
}
