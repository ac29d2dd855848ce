import EntitlementDomain
import RPCClient
import TestSupport
import Wire

/// Links, unlinks and transfers the contested chains by name, and merges accounts, while others
/// claim the chains.
struct ChainOperator: Sendable {
  private enum Deed: CaseIterable {
    case link
    case unlink
    case transfer
    case merge
  }

  private let load: LoadContext
  private let lane: ClientLane
  private let submitter: Submitter
  private let client: Int

  private static let pause = Duration.milliseconds(60)
  private static let author = "chaos"

  init(_ load: LoadContext, client: Int) {
    self.load = load
    self.client = client
    lane = ClientLane(load, random: load.random(client))
    submitter = Submitter(load, client: client)
  }

  func run() async {
    var random = load.random(client)
    var number = 0
    while !load.isStopping {
      number += 1
      guard let deed = Deed.allCases.randomElement(using: &random),
        let chain = load.contested.randomElement(using: &random),
        let account = LoadContext.claimers.randomElement(using: &random)
      else { return }
      // Notes are unique, so that each one is found in the history.
      let note = "\(client).\(number)"
      switch deed {
      case .link: await link(chain.target, to: account, note)
      case .unlink: await unlink(chain.target, note)
      case .transfer: await transfer(chain.target, to: account, note)
      case .merge: await merge(chain, into: account, note)
      }
      try? await Task.sleep(for: Self.pause)
    }
    await lane.drop()
  }

  private func link(_ target: LinkTarget, to account: AccountID, _ note: String) async {
    let request = LinkAccountRequest(
      scope: CustomerStock.scope, target: target, accountID: account, reason: note,
      onBehalfOf: Self.author)
    let answer = await lane.call("link", or: [.alreadyExists, .notFound]) {
      (client) async throws(RPCClientError) in try await client.linkAccount(request)
    }
    record(answer, account: account, note)
  }

  private func unlink(_ target: LinkTarget, _ note: String) async {
    let request = UnlinkAccountRequest(
      scope: CustomerStock.scope, target: target, reason: note, onBehalfOf: Self.author)
    let answer = await lane.call("unlink", or: [.notFound]) {
      (client) async throws(RPCClientError) in try await client.unlinkAccount(request)
    }
    record(answer, account: nil, note)
  }

  private func transfer(_ target: LinkTarget, to account: AccountID, _ note: String) async {
    let request = TransferPurchaseRequest(
      scope: CustomerStock.scope, target: target, toAccountID: account, reason: note,
      onBehalfOf: Self.author)
    let answer = await lane.call("transfer", or: [.notFound]) {
      (client) async throws(RPCClientError) in try await client.transferPurchase(request)
    }
    record(answer, account: account, note)
  }

  /// Lets an account claim a chain, and merges it into another account with everything it has by
  /// then.
  private func merge(_ chain: ContestedChain, into account: AccountID, _ note: String) async {
    let visitor = AccountID("visitor-\(note)")
    guard await submitter.submit(chain.step, for: visitor, at: nil) else { return }
    let request = MergeAccountsRequest(
      scope: CustomerStock.scope, fromAccountID: visitor, intoAccountID: account, reason: note,
      onBehalfOf: Self.author)
    let answer = await lane.call("merge", or: [.notFound]) {
      (client) async throws(RPCClientError) in try await client.mergeAccounts(request)
    }
    record(answer, account: account, note)
    if answer?.isChanged == true { load.counters.add(.merges) }
  }

  private func record(_ answer: LinkResponse?, account: AccountID?, _ note: String) {
    guard let answer else { return }
    for customer in answer.customers {
      if case .account(let account) = customer.subject {
        load.board.saw(customer.revision, of: account)
      }
    }
    load.counters.add(.operatorChanges)
    guard answer.isChanged else { return }
    for target in answer.targets {
      load.record.answered(
        AnswerRecord.OperatorChange(target: target, account: account, note: note))
    }
  }
}
