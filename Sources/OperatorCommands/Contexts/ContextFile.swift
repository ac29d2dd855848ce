import Glibc
import Programs
import YAMLFiles

/// The file of a user's contexts.
///
/// ```yaml
/// current: production
/// contexts:
///   production:
///     server: tls:entitle.example.com:7443
///     tls_ca: /home/ada/ca.pem
///     token_file: /home/ada/token
///     bundle_id: com.example.scribe
/// ```
struct ContextFile {
  let path: String

  /// The path in the user's folder of settings (XDG Base Directory Specification).
  ///
  /// - Returns: nil for a user without such a folder.
  static func ofUser(_ environment: [String: String]) -> ContextFile? {
    let folder =
      if let settings = environment["XDG_CONFIG_HOME"], settings.hasPrefix("/") {
        settings
      } else if let home = environment["HOME"], home.hasPrefix("/") {
        home + "/.config"
      } else {
        ""
      }
    return folder.isEmpty ? nil : ContextFile(path: folder + "/entitle/contexts.yaml")
  }

  /// In bytes, far above any real file.
  private static let maximumBytes = 1 << 20

  private var folder: String {
    String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }

  // MARK: Reading

  /// - Returns: no contexts when there is no file.
  /// - Throws: ``CommandFailure`` when it is not valid, or other users may write it: they could send
  ///   the token to a server of theirs.
  func load() throws(CommandFailure) -> ServerContexts {
    var status = stat()
    guard stat(path, &status) == 0 else {
      if errno == ENOENT || errno == ENOTDIR { return ServerContexts() }
      throw CommandFailure(.failed, "\(path): cannot be read")
    }
    for place in [path, folder] {
      guard stat(place, &status) == 0, status.st_uid == getuid() || status.st_uid == 0,
        status.st_mode & 0o022 == 0
      else { throw CommandFailure(.failed, "\(place): other users may write it (chmod go-w)") }
    }
    let bytes = try InputFile.contents(of: path, limit: Self.maximumBytes)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandFailure(.failed, "\(path): not UTF-8")
    }
    do throws(Fault) {
      return try Self.contexts(in: text)
    } catch {
      throw CommandFailure(
        .failed, "\(path):\(error.position.line):\(error.position.column): \(error.message)")
    }
  }

  /// Where the file is not valid, and why.
  struct Fault: Error {
    let position: YAMLPosition
    let message: String
  }

  static func contexts(in text: String) throws(Fault) -> ServerContexts {
    var contexts = ServerContexts()
    let document: YAMLNode?
    do throws(YAMLError) {
      document = try YAMLReader.document(in: text)
    } catch {
      throw Fault(position: error.position, message: error.message)
    }
    guard let root = document else { return contexts }
    var current: YAMLNode?
    for entry in try entries(of: root) {
      switch entry.key {
      case "current":
        current = entry.value
      case "contexts":
        for named in try entries(of: entry.value) {
          guard ServerContexts.isName(named.key) else {
            throw Fault(position: named.keyPosition, message: "not the name of a context")
          }
          guard contexts.byName.count < ServerContexts.maximumCount else {
            throw Fault(
              position: named.keyPosition,
              message: "more than \(ServerContexts.maximumCount) contexts")
          }
          contexts.set(named.key, try context(in: named.value))
        }
      default:
        throw Fault(
          position: entry.keyPosition, message: "unknown field; allowed: current, contexts")
      }
    }
    contexts.useNone()
    guard let current else { return contexts }
    guard let name = current.scalar, contexts.use(name) else {
      throw Fault(position: current.position, message: "current: not one of the contexts")
    }
    return contexts
  }

  private static func context(in node: YAMLNode) throws(Fault) -> ServerContext {
    var values: [ServerContext.Field: String] = [:]
    var positions: [ServerContext.Field: YAMLPosition] = [:]
    for entry in try entries(of: node) {
      guard let field = ServerContext.Field(rawValue: entry.key) else {
        let allowed = ServerContext.Field.allCases.map(\.rawValue).joined(separator: ", ")
        throw Fault(
          position: entry.keyPosition, message: "unknown field; allowed: \(allowed)")
      }
      guard let text = entry.value.scalar else {
        throw Fault(position: entry.value.position, message: "\(field.rawValue): no text")
      }
      values[field] = text
      positions[field] = entry.value.position
    }
    do throws(ServerContext.Fault) {
      return try ServerContext(values)
    } catch {
      throw Fault(
        position: positions[error.field] ?? node.position,
        message: "\(error.field.rawValue): \(error.reason)")
    }
  }

  private static func entries(of node: YAMLNode) throws(Fault) -> [YAMLNode.Entry] {
    // A key without a value.
    if node.scalar?.isEmpty == true { return [] }
    guard let entries = node.mapping else {
      throw Fault(position: node.position, message: "a mapping is expected")
    }
    return entries
  }

  // MARK: Writing

  /// Replaces the file. Only its owner can read it and enter its folder.
  func save(_ contexts: ServerContexts) throws(CommandFailure) {
    try makeFolder()
    try PrivateFile.write(Array(Self.text(of: contexts).utf8), to: path)
  }

  private func makeFolder() throws(CommandFailure) {
    var end = folder.startIndex
    while end < folder.endIndex {
      let next = folder.index(after: end)
      end = folder[next...].firstIndex(of: "/") ?? folder.endIndex
      guard mkdir(String(folder[..<end]), 0o700) == 0 || errno == EEXIST || errno == EROFS else {
        throw CommandFailure(
          .failed, "\(folder): cannot be made: \(String(cString: strerror(errno)))")
      }
    }
  }

  static func text(of contexts: ServerContexts) -> String {
    var lines = ["# Written by entitlectl context. It names the files of tokens and has none."]
    if let current = contexts.current { lines.append("current: \(quoted(current))") }
    lines.append("contexts:")
    for name in contexts.names {
      guard let context = contexts.byName[name] else { continue }
      lines.append("  \(quoted(name)):")
      for field in ServerContext.Field.allCases {
        if let value = context[field] { lines.append("    \(field.rawValue): \(quoted(value))") }
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// A text in single quotes, where only they are special (YAML 1.2, section 7.3.2). The texts have
  /// no control characters.
  private static func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: "''") + "'"
  }
}
