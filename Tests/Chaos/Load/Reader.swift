import EntitlementDomain
import RPCClient
import Wire

/// Reads known accounts in all three consistency modes, and checks each answer against the promise
/// of its mode.
struct Reader: Sendable {
  private let load: LoadContext
  private let lane: ClientLane
  private let client: Int

  private static let pause = Duration.milliseconds(10)

  init(_ load: LoadContext, client: Int) {
    self.load = load
    self.client = client
    lane = ClientLane(load, random: load.random(client))
  }

  func run() async {
    var random = load.random(client)
    while !load.isStopping {
      if let account = load.board.anyAccount(using: &random) {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: await read(account, .latency)
        case 1: await read(account, .fresh)
        default: await read(account, .consistent)
        }
      }
      try? await Task.sleep(for: Self.pause)
    }
    await lane.drop()
  }

  private enum Mode: String {
    case latency = "MINIMIZE_LATENCY"
    case fresh = "AT_LEAST_AS_FRESH"
    case consistent = "FULLY_CONSISTENT"
  }

  private func read(_ account: AccountID, _ mode: Mode) async {
    let known = load.board.revision(of: account)
    let least: Int64
    let consistency: ReadConsistency
    switch mode {
    case .latency:
      least = load.board.revision(of: account, at: .now - LoadContext.stalenessAllowed)
      consistency = .minimizeLatency
      load.counters.add(.latencyReads)
    case .fresh:
      least = known
      consistency = .atLeastAsFresh(revision: known)
      load.counters.add(.freshReads)
    case .consistent:
      least = known
      consistency = .fullyConsistent
      load.counters.add(.consistentReads)
    }
    let request = GetCustomerStateRequest(
      customer: .account(account), scope: CustomerStock.scope, consistency: consistency)
    let answer = await lane.call("read \(mode.rawValue)") {
      (client) async throws(RPCClientError) in try await client.customerState(request)
    }
    guard let answer else { return }
    if answer.revision < least {
      load.findings.add(
        .staleAnswer, "\(account) \(mode.rawValue): \(answer.revision) after \(least)")
    }
    load.board.saw(answer.revision, of: account)
  }
}
