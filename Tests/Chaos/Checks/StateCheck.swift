import EntitlementDomain
import EntitlementStore
import RPCClient
import Wire

/// Checks that the servers return the state that the stored facts give.
struct StateCheck: Sendable {
  let load: LoadContext
  let store: any EntitlementStore
  let catalog: Catalog

  enum Mode: String, Sendable {
    case latency = "MINIMIZE_LATENCY"
    case fresh = "AT_LEAST_AS_FRESH"
    case consistent = "FULLY_CONSISTENT"
  }

  /// A customer with constant writes may change between two reads this often.
  private static let attempts = 10
  private static let page = 500
  /// Concurrent customers at each server.
  private static let lanes = 4

  func check(_ accounts: [AccountID], modes: [Mode]) async {
    await withTaskGroup { group in
      for server in load.servers {
        for lane in 0..<Self.lanes {
          group.addTask {
            // If a server cannot be reached, the other servers and the next check remain.
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

  /// Compares two states of the same revision.
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
    // There were enough answers, but never two of one revision: after the end of the load that is a
    // fault.
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
