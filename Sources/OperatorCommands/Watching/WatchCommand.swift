import ArgumentParser
import EntitlementDomain
import Glibc
import Programs
import Wire

struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "What changes, as it is committed, as JSON lines.",
    discussion: """
      Each line has a change with the customer's state after it, and the cursor that --from takes \
      to go on after that line. It has no end: SIGINT or SIGTERM stops it, with exit code 0 and \
      the last cursor on stderr. A lost connection is made again, and nothing is missed; a first \
      one that cannot be made is exit code 3. Exit code 2 when the feed does not reach back to the \
      cursor any more: read the states anew, and watch from now.
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

  @Option(help: "Go on after this cursor. Default: what is committed from now on.")
  var from: String?

  @Flag(help: "Begin with the first change that is kept.")
  var fromStart = false

  @Option(
    help: """
      Go on after the cursor in this file, if it is there, whatever --from and --from-start say; \
      and keep the cursor of the last line that was printed in it.
      """)
  var cursorFile: String?

  @Option(
    help: "Only this account. May be repeated; needs --bundle-id and --environment.")
  var account: [String] = []

  @Option(help: "Only this app. Default: all.")
  var bundleID: String?

  @Option(help: "Only production, sandbox, xcode or local-testing. Default: all.")
  var environment: EnvironmentName?

  @Option(help: "Only changes of this kind, or of one of several: may be repeated.")
  var kind: [Kind] = []

  @Flag(help: "Leave the states out.")
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
    if !account.isEmpty, bundleID == nil || environment == nil {
      throw ValidationError("--account needs --bundle-id and --environment")
    }
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
    if let kept = try file?.load() { request.cursor = kept }
    let watcher = ChangeWatcher(server: server, cursorFile: file)
    let watch = Task { [request] in try await watcher.run(request) }
    let interruption = Interruption(by: [SIGINT, SIGTERM]) { watch.cancel() }
    defer { interruption.end() }
    try await watch.value
  }
}
