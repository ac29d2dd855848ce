import ArgumentParser
import EntitlementDomain
import Glibc
import Programs
import Wire

struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Prints changes as they are committed, as JSON lines.",
    discussion: """
      Each line has a change, the customer's state after it, and a cursor: --from with this cursor \
      continues after the line. The command runs until SIGINT or SIGTERM, which end it with exit \
      code 0 and print the last cursor to stderr. It reconnects after a lost connection and misses \
      no change. Exit code 3 when the first connection cannot be made. Exit code 2 when the feed \
      no longer reaches back to the cursor: read the states again, and watch from now.
      """)

  enum Kind: String, ExpressibleByArgument, CaseIterable {
    case facts, linked, unlinked, grants, events, merged, deleted

    var kind: ChangeKind {
      switch self {
      case .facts: .facts
      case .linked: .linked
      case .unlinked: .unlinked
      case .grants: .grants
      case .events: .events
      case .merged: .merged
      case .deleted: .deleted
      }
    }
  }

  @Option(help: "Continue after this cursor. Default: changes from now on.")
  var from: String?

  @Flag(help: "Begin with the oldest change in the feed.")
  var fromStart = false

  @Option(
    help: """
      File for the cursor of the last printed line. If it exists, continue after its cursor and \
      ignore --from and --from-start.
      """)
  var cursorFile: String?

  @Option(
    help: """
      Only this account. May be repeated. The app and the environment default to those of other \
      commands.
      """)
  var account: [String] = []

  @Option(name: .app, help: "Only this app. Default: all.")
  var bundleID: String?

  @Option(help: "Only production, sandbox, xcode or local-testing. Default: all.")
  var environment: EnvironmentName?

  @Option(help: "Only changes of this kind. May be repeated.")
  var kind: [Kind] = []

  @Flag(help: "Omit the states.")
  var withoutStates = false

  @OptionGroup var server: ServerOptions

  func validate() throws {
    if fromStart, from != nil {
      throw ValidationError("--from and --from-start exclude each other")
    }
    for (name, text) in [
      ("--from", from), ("--bundle-id", bundleID), ("--cursor-file", cursorFile),
    ]
    where text == "" { throw ValidationError("\(name) is empty") }
    if account.contains("") { throw ValidationError("--account is empty") }
    if account.count > WatchCustomerStatesRequest.maximumAccountIDs {
      throw ValidationError(
        "--account is given more than \(WatchCustomerStatesRequest.maximumAccountIDs) times")
    }
  }

  func run() async throws {
    let file = cursorFile.map { CursorFile(path: $0) }
    var request = WatchCustomerStatesRequest(
      cursor: from ?? (fromStart ? WatchCustomerStatesRequest.beginning : nil),
      bundleID: bundleID.map { BundleID($0) }, environment: environment?.environment,
      accountIDs: account.map { AccountID($0) }, kinds: Set(kind.map(\.kind)),
      isWithoutStates: withoutStates)
    if !account.isEmpty {
      let scope = try await AppOptions.scope(bundleID, environment, on: server)
      request.bundleID = scope.bundleID
      request.environment = scope.environment
    }
    if let kept = try file?.load() { request.cursor = kept }
    let watcher = ChangeWatcher(server: server, cursorFile: file)
    let watch = Task { [request] in try await watcher.run(request) }
    let interruption = Interruption(by: [SIGINT, SIGTERM]) { watch.cancel() }
    defer { interruption.end() }
    try await watch.value
  }
}
