import EntitlementDomain
import EntitlementStore
import RPCClient
import Wire

/// What the servers say of a customer is what the stored facts give.
struct StateCheck: Sendable {
  let load: LoadContext
  let store: any EntitlementStore
  let catalog: Catalog

  enum Mode: String, Sendable {
    case latency = "MINIMIZE_LATENCY"
    case fresh = "AT_LEAST_AS_FRESH"
    case consistent = "FULLY_CONSISTENT"
  }

  /// Who is written all the time may change between two reads so often.
  private static let attempts = 10
  private static let page = 500
  /// Customers looked at at once, at each server.
  private static let lanes = 4

  func check(_ accounts: [AccountID], modes: [Mode]) async {
    await withTaskGroup { group in
      for server in load.servers {
        for lane in 0..<Self.lanes {
          group.addTask {
            // Where it cannot be reached, others check and the next check comes.
            guard
              let client = try? await EntitlementClient.connect(
                to: server.address, configuration: .impatient())
            else {
              return
            }
            for index in stride(from: lane, to: accounts.count, by: Self.lanes) {
              for mode in modes { await check(.account(accounts[index]), mode, at: server, client) }
            }
            await client.close()
          }
        }
      }
    }
  }

  func checkUnlinkedChains() async throws {
    var after: OriginalTransactionID?
    repeat {
      let chains = try await store.unlinkedChains(
        in: CustomerStock.scope, after: after, limit: Self.page)
      after = chains.count == Self.page ? chains.last?.chain : nil
      for server in load.servers {
        let client = try await EntitlementClient.connect(
          to: server.address, configuration: .impatient())
        for chain in chains {
          await check(.originalTransaction(chain.chain), .consistent, at: server, client)
        }
        await client.close()
      }
    } while after != nil
  }

  /// Compares when both are of one revision.
  private func check(
    _ customer: CustomerSelector, _ mode: Mode, at server: EntitledNode,
    _ client: EntitlementClient
  ) async {
    for _ in 0..<Self.attempts {
      guard
        let stored = try? await store.customer(customer, in: CustomerStock.scope),
        let answer = try? await client.customerState(
          GetCustomerStateRequest(
            customer: customer, scope: CustomerStock.scope,
            consistency: consistency(mode, revision: stored.record.revision))),
        case .state(let told) = answer
      else {
        try? await Task.sleep(for: .milliseconds(100))
        continue
      }
      guard told.revision == stored.record.revision else { continue }
      let fresh = Evaluation.state(of: stored.record, catalog: catalog, at: told.evaluatedAt)
      if told != fresh {
        load.findings.add(
          .wrongState, "\(customer) \(mode.rawValue) at \(server.name), revision \(told.revision)")
      }
      return
    }
    // Answered often enough, and never alike: in a run that has ended that is one side's fault.
    if load.isStopping {
      load.findings.add(
        .wrongState, "\(customer) \(mode.rawValue) at \(server.name): never of one revision")
    }
  }

  private func consistency(_ mode: Mode, revision: Int64) -> ReadConsistency {
    switch mode {
    case .latency: .minimizeLatency
    case .fresh: .atLeastAsFresh(revision: revision)
    case .consistent: .fullyConsistent
    }
  }
}
