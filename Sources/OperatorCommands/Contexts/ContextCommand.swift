import ArgumentParser
import ClientOptions
import EntitlementDomain
import Foundation
import Framing
import Programs

struct ContextCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "context",
    abstract: "Servers under names, with their certificates, token and app.",
    discussion: """
      A context is used by all commands that call a server: the one of --context, else of the \
      environment's \(ServerOptions.contextVariable), else the current one. It holds the path of a \
      file with a token, never a token. Options override it, and so does the environment's \
      \(ServerOptions.serverVariable). With another server than the context's, nothing of the \
      context is used: its token is sent to its own server only. Contexts are kept in \
      $XDG_CONFIG_HOME/entitle/contexts.yaml, or ~/.config/entitle/contexts.yaml. Exit code 2 when \
      a context does not exist.
      """,
    subcommands: [
      ContextSetCommand.self, ContextUseCommand.self, ContextListCommand.self,
      ContextRemoveCommand.self,
    ])

  /// The file of the user who runs the command.
  static func file() throws(CommandFailure) -> ContextFile {
    guard let file = ContextFile.ofUser(ProcessInfo.processInfo.environment) else {
      throw CommandFailure(.failed, "neither XDG_CONFIG_HOME nor HOME is a path")
    }
    return file
  }

  static func unknown(_ name: String) -> CommandFailure {
    CommandFailure(.refused, "\(name): no such context")
  }
}

struct ContextSetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Adds a context, or replaces it.",
    discussion: """
      Nothing is kept of a context that is replaced. The first context becomes the current one. \
      Paths are made absolute. Exit code 64 for a token that would travel to another machine \
      without TLS.
      """)

  @Argument(help: "The name: letters, digits, and - _ .")
  var name: String

  @Option(help: "Server: HOST:PORT, tls:HOST:PORT or unix:PATH.")
  var server = ServerOptions.defaultServer

  @OptionGroup var tls: TLSOptions

  @Option(help: ArgumentHelp("File of the token.", valueName: "file"))
  var tokenFile: String?

  @Option(name: .app, help: "The app of commands without --bundle-id.")
  var bundleID: String?

  @Option(
    help: "The environment of commands without --environment: \(EnvironmentName.list).")
  var environment: EnvironmentName?

  func validate() throws {
    guard ServerContexts.isName(name) else {
      throw ValidationError("\(name): a name has 1 to 64 letters, digits, and - _ .")
    }
    guard tokenFile != "-" else {
      throw ValidationError("--token-file names a file in a context, not stdin")
    }
    let context = try context()
    if tokenFile != nil { try TokenOptions.requireConfidential(context.address) }
  }

  private func context() throws -> ServerContext {
    var address = try tls.address(try ServerOptions.address(server))
    if case .unix(let path) = address { address = .unix(path: Self.absolute(path)) }
    let values: [ServerContext.Field: String?] = [
      .server: "\(address)", .authorityFile: tls.authorityFile.map(Self.absolute),
      .certificateFile: tls.certificateFile.map(Self.absolute),
      .keyFile: tls.keyFile.map(Self.absolute), .serverName: tls.serverName,
      .tokenFile: tokenFile.map(Self.absolute), .bundleID: bundleID,
      .environment: environment?.rawValue,
    ]
    do throws(ServerContext.Fault) {
      return try ServerContext(values.compactMapValues(\.self))
    } catch {
      throw ValidationError("\(error.field.rawValue): \(error.reason)")
    }
  }

  /// An empty path stays empty, and is refused.
  private static func absolute(_ path: String) -> String {
    path.isEmpty ? path : URL(filePath: path).standardizedFileURL.path
  }

  func run() throws {
    let file = try ContextCommand.file()
    var contexts = try file.load()
    guard contexts.byName[name] != nil || contexts.byName.count < ServerContexts.maximumCount
    else {
      throw CommandFailure(.refused, "there are \(ServerContexts.maximumCount) contexts already")
    }
    contexts.set(name, try context())
    try file.save(contexts)
    let note = contexts.current == name ? ", the current context" : ""
    StandardError.write("context \(name) is set\(note)")
  }
}

struct ContextUseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "use", abstract: "Makes a context the current one.")

  @Argument(help: "The name of the context.")
  var name: String

  func run() throws {
    let file = try ContextCommand.file()
    var contexts = try file.load()
    guard contexts.use(name) else { throw ContextCommand.unknown(name) }
    try file.save(contexts)
    StandardError.write("context \(name) is the current context")
  }
}

struct ContextRemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Removes a context. The files that it names stay.",
    discussion: "After the current one was removed, no context is the current one.")

  @Argument(help: "The name of the context.")
  var name: String

  func run() throws {
    let file = try ContextCommand.file()
    var contexts = try file.load()
    guard contexts.remove(name) else { throw ContextCommand.unknown(name) }
    try file.save(contexts)
    StandardError.write("context \(name) is removed")
  }
}

struct ContextListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the contexts, sorted by name.",
    discussion: "The current one is marked. The files that a context names are not read.")

  @OptionGroup var output: OutputOptions

  /// One context as JSON.
  struct Document: Encodable {
    let name: String
    let isCurrent: Bool
    let server: String
    let tlsCa: String?
    let tlsCert: String?
    let tlsKey: String?
    let tlsServerName: String?
    let tokenFile: String?
    let bundleId: String?
    let environment: String?
  }

  func run() throws {
    let contexts = try ContextCommand.file().load()
    try output.write(documents: Self.documents(contexts), table: Self.table)
  }

  static func documents(_ contexts: ServerContexts) -> [Document] {
    contexts.names.compactMap { name in
      guard let context = contexts.byName[name] else { return nil }
      return Document(
        name: name, isCurrent: name == contexts.current, server: "\(context.address)",
        tlsCa: context[.authorityFile], tlsCert: context[.certificateFile],
        tlsKey: context[.keyFile], tlsServerName: context[.serverName],
        tokenFile: context[.tokenFile], bundleId: context[.bundleID],
        environment: context.environment?.environment.rawValue)
    }
  }

  static func table(_ documents: [Document]) -> String {
    var table = TextTable(
      header: ["CURRENT", "NAME", "SERVER", "APP", "ENVIRONMENT", "TOKEN FILE"])
    for document in documents {
      table.add([
        document.isCurrent ? "*" : "", document.name, document.server, document.bundleId ?? "-",
        document.environment ?? "-", document.tokenFile ?? "-",
      ])
    }
    return table.text
  }
}
