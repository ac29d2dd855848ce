import EntitlementDomain
import RPCClient
import Wire

/// Claims the contested chains for random accounts, against all other claimers.
struct Claimer: Sendable {
  private let load: LoadContext
  private let submitter: Submitter
  private let client: Int

  private static let pause = Duration.milliseconds(20)

  init(_ load: LoadContext, client: Int) {
    self.load = load
    self.client = client
    submitter = Submitter(load, client: client)
  }

  func run() async {
    var random = load.random(client)
    while !load.isStopping {
      let chain = load.contested.randomElement(using: &random)
      let account = LoadContext.claimers.randomElement(using: &random)
      guard let chain, let account else { return }
      // An unanswered claim is not repeated: the owner of the chain is then unknown.
      if await submitter.submit(chain.step, for: account, at: nil) { load.counters.add(.claims) }
      try? await Task.sleep(for: Self.pause)
    }
  }
}
