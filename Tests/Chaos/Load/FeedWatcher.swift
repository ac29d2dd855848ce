import EntitlementDomain
import RPCClient
import Synchronization
import TestSupport
import Wire

/// Watches the feed and resumes from its last cursor: at another server after a fault, and
/// sometimes without one.
final class FeedWatcher: Sendable {
  private struct State {
    var cursor: String?
    var sequences: [Int64] = []
    var isBroken = false
  }

  let name: String
  /// The accounts of the watch; empty for all.
  let accounts: Set<AccountID>
  private let load: LoadContext
  private let client: Int
  private let state: Mutex<State>

  /// The number of responses after which it reconnects without a fault. Responses that only move
  /// the cursor count too.
  private static let responsesOfOneWatch = 400
  /// The number of seconds after which it does so when there are few changes.
  private static let longestWatch = 8

  /// - Parameter isFromBeginning: false to start at the current end of the feed, which must be
  ///   before any change.
  init(
    _ load: LoadContext, name: String, client: Int, accounts: Set<AccountID> = [],
    isFromBeginning: Bool
  ) {
    self.load = load
    self.name = name
    self.client = client
    self.accounts = accounts
    state = Mutex(State(cursor: isFromBeginning ? WatchCustomerStatesRequest.beginning : nil))
  }

  /// The received changes, in order.
  var sequences: [Int64] { state.withLock { $0.sequences } }

  /// Whether it has a cursor to resume from.
  var hasStarted: Bool { state.withLock { $0.cursor != nil } }

  func run() async {
    var random = load.random(client)
    while !Task.isCancelled {
      guard let server = load.servers.randomElement(using: &random) else { return }
      let responses = Int.random(in: 1...Self.responsesOfOneWatch, using: &random)
      let seconds = Int.random(in: 1...Self.longestWatch, using: &random)
      await watch(server, responses: responses, time: .seconds(seconds))
      load.counters.add(.watchResumptions)
      try? await Task.sleep(for: .milliseconds(100))
    }
  }

  private func watch(_ server: EntitledNode, responses: Int, time: Duration) async {
    let client = EntitlementClient(server.address, configuration: .impatient())
    // The watch ends when the client is closed.
    let alarm = Task {
      try? await Task.sleep(for: time)
      await client.close()
    }
    do {
      try await read(responses, from: client)
    } catch let error as CustomerWatchError {
      if !error.isTransient, !Task.isCancelled {
        load.findings.add(.unexpectedStatus, "watch \(name): \(error.cause)")
      }
    } catch {
      load.findings.add(.unexpectedStatus, "watch \(name): \(error)")
    }
    alarm.cancel()
    await client.close()
  }

  private func read(_ responses: Int, from client: EntitlementClient) async throws {
    let watch = try client.watchCustomerStates(
      WatchCustomerStatesRequest(
        cursor: state.withLock { $0.cursor },
        bundleID: accounts.isEmpty ? nil : CustomerStock.scope.bundleID,
        environment: accounts.isEmpty ? nil : CustomerStock.scope.environment,
        accountIDs: accounts.sorted(), isWithoutStates: true))
    var left = responses
    for try await response in watch {
      note(response)
      left -= 1
      if left <= 0 { return }
    }
  }

  private func note(_ response: WatchCustomerStatesResponse) {
    let previous = state.withLock { state -> Int64? in
      state.cursor = response.cursor
      guard let change = response.change else { return nil }
      defer { state.sequences.append(change.sequence) }
      return state.sequences.last
    }
    guard let change = response.change else { return }
    load.counters.add(.watchedChanges)
    if let previous, change.sequence <= previous {
      load.findings.add(.feedRepeat, "\(name): \(change.sequence) after \(previous)")
    }
    // A received change is committed: no later answer may lack it.
    if case .account(let account) = change.subject, change.kinds != [.events] {
      load.board.saw(change.sequence, of: account)
    }
  }
}
