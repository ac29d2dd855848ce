import FoundationEssentials
import Glibc
import Testing

/// The declarations of `Protos/`, read by a small parser that supports what these files use.
struct MessageProtos {
  struct Field: Hashable {
    var type: String
    var name: String
    var number: Int
  }

  /// By name within their package; nested ones as `Message.Name`.
  private(set) var messages: [String: [Field]] = [:]
  private(set) var enumerations: [String: [Int: String]] = [:]
  /// As `package.Service/Method(package.Request) -> package.Response`, with `stream ` before a
  /// streamed message.
  private(set) var methods: Set<String> = []
  /// The value of the option `permission`, such as `PERMISSION_READ`, by `package.Service/Method`.
  /// Methods without the option are absent.
  private(set) var permissions: [String: String] = [:]

  private var tokens: ArraySlice<String> = []
  private var package = ""

  init() throws {
    for path in [
      "entitle/v1/state.proto", "entitle/v1/entitlement.proto", "entitle/v1/submission.proto",
      "entitle/v1/link.proto", "entitle/v1/admin.proto", "entitle/v1/audit.proto",
      "entitle/v1/app_store.proto", "entitle/v1/consumption.proto", "entitle/v1/jobs.proto",
      "entitle/v1/migration.proto", "entitle/v1/offers.proto",
      "entitle/v1/access.proto", "entitle/v1/permission.proto", "grpc/health/v1/health.proto",
    ] {
      let text = try String(contentsOfFile: Self.folder() + "/" + path, encoding: .utf8)
      tokens = Self.tokens(of: text)[...]
      try parseFile()
    }
  }

  /// Nesting of messages, the message itself included; at most `limit`.
  func depth(of message: String, limit: Int) -> Int {
    guard limit > 1 else { return limit }
    let inner = (messages[message] ?? []).map(\.type).filter { messages[$0] != nil }
    return 1 + (inner.map { depth(of: $0, limit: limit - 1) }.max() ?? 0)
  }

  /// The permission of each method by access.md, whose section "Permissions" has rows such as
  /// ``| `read` | what it allows | GetCustomerState, Health/Check |``.
  static func describedPermissions() throws -> [String: String] {
    let path = try folder("deploy/docs") + "/access.md"
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    let section = lines.drop { $0 != "## Permissions" }.dropFirst().prefix { !$0.hasPrefix("## ") }
    try #require(!section.isEmpty)
    var permissions: [String: String] = [:]
    for line in section {
      let cells = line.split(separator: "|").map { $0.split(separator: " ") }
      guard cells.count == 3, let permission = cells[0].first, permission.hasPrefix("`") else {
        continue
      }
      for method in cells[2] where method != "–" {
        let name = method.filter { $0 != "," }
        #expect(permissions[name] == nil, "\(name) twice")
        permissions[name] = permission.filter { $0 != "`" }
      }
    }
    return permissions
  }

  private static func folder(_ name: String = "Protos") throws -> String {
    // A linked copy of the package contains only its Sources and Tests.
    let file = try #require(realpath(#filePath, nil))
    defer { free(file) }
    let parts = String(cString: file).split(separator: "/").dropLast(3)
    return "/" + parts.joined(separator: "/") + "/" + name
  }

  private static func tokens(of text: String) -> [String] {
    var tokens: [String] = []
    var word = ""
    for line in text.split(separator: "\n") {
      let code = line.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false)[0]
      for character in code + " " {
        guard character.isWhitespace || "{}()[];=".contains(character) else {
          word.append(character)
          continue
        }
        if !word.isEmpty { tokens.append(word) }
        word = ""
        if !character.isWhitespace { tokens.append(String(character)) }
      }
    }
    return tokens
  }

  private mutating func parseFile() throws {
    while let keyword = tokens.popFirst() {
      switch keyword {
      case "package": package = try next()
      case "message": try parseMessage(in: "")
      case "enum": try parseEnumeration(in: "")
      case "service": try parseService()
      default: break
      }
    }
  }

  private mutating func parseMessage(in outer: String) throws {
    let name = outer + (try next())
    messages[name] = []
    try expect("{")
    var isInOneof = false
    while true {
      var token = try next()
      switch token {
      case "}":
        if !isInOneof { return }
        isInOneof = false
      case "enum": try parseEnumeration(in: name + ".")
      case "option": try skip(past: ";")
      case "oneof":
        isInOneof = true
        _ = try next()
        try expect("{")
      default:
        if token == "repeated" || token == "optional" { token = try next() }
        let field = try next()
        try expect("=")
        let number = try #require(Int(try next()))
        messages[name]?.append(Field(type: token, name: field, number: number))
        // Options may follow.
        try skip(past: ";")
      }
    }
  }

  private mutating func parseEnumeration(in outer: String) throws {
    let name = outer + (try next())
    try expect("{")
    var values: [Int: String] = [:]
    while let value = tokens.popFirst(), value != "}" {
      if value == "option" {
        try skip(past: ";")
        continue
      }
      try expect("=")
      let number = try #require(Int(try next()))
      values[number] = value
      try expect(";")
    }
    enumerations[name] = values
  }

  private mutating func parseService() throws {
    let service = package + "." + (try next())
    try expect("{")
    while let keyword = tokens.popFirst(), keyword != "}" {
      #expect(keyword == "rpc")
      let method = try next()
      try expect("(")
      let request = package + "." + (try next())
      try expect(")")
      try expect("returns")
      try expect("(")
      var response = try next()
      let isStream = response == "stream"
      if isStream { response = try next() }
      try expect(")")
      if try next() == "{" { try parseOptions(of: "\(service)/\(method)") }
      methods.insert(
        "\(service)/\(method)(\(request)) -> \(isStream ? "stream " : "")\(package).\(response)")
    }
  }

  private mutating func parseOptions(of method: String) throws {
    while try next() == "option" {
      var words: [String] = []
      while let token = tokens.popFirst(), token != ";" { words.append(token) }
      if words.prefix(3) == ["(", "permission", ")"] { permissions[method] = words.last }
    }
  }

  private mutating func skip(past end: String) throws {
    while try next() != end {}
  }

  private mutating func next() throws -> String {
    let token = tokens.popFirst()
    return try #require(token)
  }

  private mutating func expect(_ token: String) throws {
    let found = try next()
    try #require(found == token)
  }
}
