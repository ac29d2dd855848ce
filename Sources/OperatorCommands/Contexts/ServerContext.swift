import Framing

/// A server under a name, with what a call to it needs. It holds the path of a token, never one.
struct ServerContext: Hashable {
  /// The fields of a context, by their names in the file.
  enum Field: String, CaseIterable {
    case server
    case authorityFile = "tls_ca"
    case certificateFile = "tls_cert"
    case keyFile = "tls_key"
    case serverName = "tls_server_name"
    case tokenFile = "token_file"
    case bundleID = "bundle_id"
    case environment
  }

  /// The address, with the scheme of TLS if it is called with TLS.
  let address: ServerAddress
  /// All fields but the address.
  private let values: [Field: String]

  /// - Throws: ``Fault`` with the first field that is not valid.
  init(_ values: [Field: String]) throws(Fault) {
    for (field, text) in values {
      guard !text.isEmpty, text.utf8.count <= Self.maximumLength,
        text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
      else { throw Fault(field: field, reason: "1 to \(Self.maximumLength) bytes are expected") }
    }
    guard let text = values[.server] else { throw Fault(field: .server, reason: "missing") }
    do {
      address = try ServerAddress(parsing: text)
    } catch {
      throw Fault(
        field: .server, reason: "HOST:PORT, tls:HOST:PORT or unix:PATH is expected")
    }
    guard (values[.certificateFile] == nil) == (values[.keyFile] == nil) else {
      throw Fault(field: .certificateFile, reason: "used together with tls_key only")
    }
    let isForTLS: [Field] = [.authorityFile, .certificateFile, .serverName]
    if !address.isEncrypted, let field = isForTLS.first(where: { values[$0] != nil }) {
      throw Fault(field: field, reason: "the address needs tls: before the host")
    }
    if let name = values[.environment], EnvironmentName(argument: name) == nil {
      throw Fault(
        field: .environment,
        reason: EnvironmentName.allCases.map(\.rawValue).joined(separator: ", ")
          + " are the environments")
    }
    self.values = values.filter { $0.key != .server }
  }

  /// The longest value, in bytes: that of a path on Linux.
  private static let maximumLength = 4_096

  struct Fault: Error {
    let field: Field
    let reason: String
  }

  subscript(_ field: Field) -> String? {
    field == .server ? "\(address)" : values[field]
  }

  var environment: EnvironmentName? {
    values[.environment].flatMap { EnvironmentName(argument: $0) }
  }
}

/// The contexts of a user.
struct ServerContexts: Hashable {
  /// The name of the context that is used when none is named; nil: none.
  private(set) var current: String?
  private(set) var byName: [String: ServerContext] = [:]

  /// Many more than a person can name.
  static let maximumCount = 1_000

  var names: [String] { byName.keys.sorted() }

  static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.unicodeScalars.allSatisfy {
        $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0))
          || "-_.".unicodeScalars.contains($0)
      }
  }

  /// Adds a context, or replaces the one of this name. The first context becomes the current one.
  mutating func set(_ name: String, _ context: ServerContext) {
    if byName.isEmpty { current = name }
    byName[name] = context
  }

  /// - Returns: false for a context that does not exist.
  mutating func use(_ name: String) -> Bool {
    guard byName[name] != nil else { return false }
    current = name
    return true
  }

  mutating func useNone() {
    current = nil
  }

  /// - Returns: false for a context that does not exist.
  mutating func remove(_ name: String) -> Bool {
    guard byName.removeValue(forKey: name) != nil else { return false }
    if current == name { current = nil }
    return true
  }
}
