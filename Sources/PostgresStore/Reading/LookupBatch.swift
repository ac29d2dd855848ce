import EntitlementDomain
import EntitlementStore
import Workers

/// Looks up several customers, usually in one round trip: from a replica that is new enough, else
/// from the primary. The failure of one lookup does not fail the others.
///
/// Lookups by account share a statement, because opening and locking the partitions that a
/// statement names is half of what a read costs the database.
struct LookupBatch: Sendable {
  typealias Outcome = Result<PostgresFoundCustomer, StoreError>

  /// One customer to look up.
  struct Lookup: Sendable {
    let selector: CustomerSelector
    let scope: AppScope
    let scopeID: Int64
    let freshness: StoreFreshness
    let extent: CustomerStatement.Extent
  }

  let primary: PostgresPool
  let replicas: ReplicaSet
  let limit: Duration
  let vault: PayloadVault
  /// Decodes the rows of large customers.
  let evaluations: EvaluationPool

  /// - Returns: one outcome for each lookup, in order.
  func find(_ lookups: [Lookup]) async -> [Outcome] {
    var outcomes = await read(lookups)
    // A merged account names its target, which is not merged itself when it is read. A further step
    // is needed only if the target is merged between the two reads.
    for step in 0..<Self.maximumSteps {
      let merged = outcomes.indices.filter { (try? outcomes[$0].get())?.mergedInto != nil }
      if merged.isEmpty { return outcomes }
      if step == Self.maximumSteps - 1 {
        for index in merged {
          outcomes[index] = .failure(
            StoreError(.unavailable, "the account was merged repeatedly during the read"))
        }
        return outcomes
      }
      let others = merged.map { index in
        let into = (try? outcomes[index].get())?.mergedInto
        // A replica may not have the merge yet.
        return Lookup(
          selector: into.map { .account($0) } ?? lookups[index].selector,
          scope: lookups[index].scope, scopeID: lookups[index].scopeID,
          freshness: .primary, extent: lookups[index].extent)
      }
      for (index, outcome) in zip(merged, await readPrimary(others)) { outcomes[index] = outcome }
    }
    return outcomes
  }

  private static let maximumSteps = 8

  private func read(_ lookups: [Lookup]) async -> [Outcome] {
    if replicas.isEmpty { return await readPrimary(lookups) }
    let replicaIndexes = lookups.indices.filter { lookups[$0].freshness != .primary }
    let primaryIndexes = lookups.indices.filter { lookups[$0].freshness == .primary }
    // Runs concurrently with the read from the replica.
    async let direct = readPrimary(primaryIndexes.map { lookups[$0] })
    let replicaResults = await readReplica(replicaIndexes.map { lookups[$0] })
    let fallbacks = zip(replicaIndexes, replicaResults).filter { $1 == nil }.map(\.0)
    let fallbackOutcomes = await readPrimary(fallbacks.map { lookups[$0] })
    var outcomes: [Int: Outcome] = [:]
    for (index, customer) in zip(replicaIndexes, replicaResults) {
      outcomes[index] = customer.map { .success($0) }
    }
    for (index, outcome) in zip(fallbacks, fallbackOutcomes) { outcomes[index] = outcome }
    for (index, outcome) in zip(primaryIndexes, await direct) { outcomes[index] = outcome }
    return lookups.indices.compactMap { outcomes[$0] }
  }

  /// The outcomes of a replica. Nil for a lookup that needs newer data, and for all when no replica
  /// answers.
  private func readReplica(_ lookups: [Lookup]) async -> [PostgresFoundCustomer?] {
    let nothing = [PostgresFoundCustomer?](repeating: nil, count: lookups.count)
    if lookups.isEmpty { return nothing }
    let results = await replicas.read(
      lookups.map { command($0, onStandby: true) }, within: limit
    ) { [vault] results throws(StoreError) -> [PostgresFoundCustomer?] in
      guard results.count == lookups.count else {
        throw StoreError(.internalFault, "PostgreSQL returned an unexpected result")
      }
      var found: [PostgresFoundCustomer?] = []
      found.reserveCapacity(results.count)
      for (rows, lookup) in zip(results, lookups) {
        let customer = try PostgresFoundCustomer(
          rows, 0..<rows.count, in: lookup.scope, vault: vault)
        // All changes below the watermark are visible.
        let isNewEnough =
          if case .includes(let position) = lookup.freshness, let watermark = customer.watermark {
            watermark > position
          } else {
            false
          }
        found.append(isNewEnough ? customer : nil)
      }
      return found
    }
    return results ?? nothing
  }

  // MARK: The primary

  private func readPrimary(_ lookups: [Lookup]) async -> [Outcome] {
    if lookups.isEmpty { return [] }
    let deadline = ContinuousClock.now + limit
    do throws(PostgresFailure) {
      // A batch gets half of the time, so that the other half is left for separate reads.
      return try await readTogether(
        lookups, until: lookups.count == 1 ? deadline : deadline - limit / 2)
    } catch {
      guard lookups.count > 1, error.mayBeCausedByOneLookup, deadline > .now else {
        let failure = StoreError(translating: error)
        return lookups.map { _ in .failure(failure) }
      }
    }
    return await readSeparately(lookups, until: deadline)
  }

  /// Reads each customer with a statement of its own, so that a lookup which the server refuses or
  /// which is slow does not fail the others.
  private func readSeparately(
    _ lookups: [Lookup], until deadline: ContinuousClock.Instant
  ) async -> [Outcome] {
    await withTaskGroup(of: (Int, Outcome).self) { group in
      for (index, lookup) in lookups.enumerated() {
        group.addTask {
          do throws(PostgresFailure) {
            return (index, try await readTogether([lookup], until: deadline)[0])
          } catch {
            return (index, .failure(StoreError(translating: error)))
          }
        }
      }
      return await group.reduce(into: [Outcome?](repeating: nil, count: lookups.count)) {
        $0[$1.0] = $1.1
      }.compactMap(\.self)
    }
  }

  /// One exchange: a statement for all accounts, and one for each other lookup.
  private func readTogether(
    _ lookups: [Lookup], until deadline: ContinuousClock.Instant
  ) async throws(PostgresFailure) -> [Outcome] {
    var accounts: [Int] = []
    var others: [Int] = []
    for index in lookups.indices {
      if lookups[index].extent == .record, case .account = lookups[index].selector {
        accounts.append(index)
      } else {
        others.append(index)
      }
    }
    if accounts.count == 1 {
      others.append(accounts[0])
      accounts = []
    }
    var commands = others.map { command(lookups[$0], onStandby: false) }
    if !accounts.isEmpty {
      commands.append(
        PostgresCommand(
          CustomerStatement.accounts,
          [
            .int64s(accounts.map { lookups[$0].scopeID }),
            .texts(accounts.map { lookups[$0].selector.accountID }),
          ]))
    }
    let results = try await primary.read(
      commands, within: ContinuousClock.now.duration(to: deadline))
    guard results.count == commands.count else {
      throw PostgresFailure(.protocolViolation, "the response has too few results")
    }
    let rowCount = results.reduce(0) { $0 + $1.count }
    return try await evaluations.decode(rows: rowCount) {
      [accounts, others] () throws(PostgresFailure) in
      try outcomes(of: lookups, accounts: accounts, others: others, in: results)
    }
  }

  /// - Parameters:
  ///   - accounts: indexes of the lookups whose rows are in the last result.
  ///   - others: indexes of the lookups that have a result each.
  private func outcomes(
    of lookups: [Lookup], accounts: [Int], others: [Int], in results: [PostgresRows]
  ) throws(PostgresFailure) -> [Outcome] {
    var outcomes = [Outcome?](repeating: nil, count: lookups.count)
    for (index, rows) in zip(others, results) {
      outcomes[index] = found(rows, 0..<rows.count, lookups[index])
    }
    if let rows = results.last, !accounts.isEmpty {
      var indexes = [[Int]](repeating: [], count: accounts.count)
      for row in 0..<rows.count {
        let position = Int(try rows.int64(row, CustomerStatement.columns)) - 1
        guard indexes.indices.contains(position) else {
          throw PostgresFailure(.protocolViolation, "the response has a row that was not requested")
        }
        indexes[position].append(row)
      }
      for (index, rowIndexes) in zip(accounts, indexes) {
        outcomes[index] = found(rows, rowIndexes, lookups[index])
      }
    }
    return outcomes.compactMap(\.self)
  }

  private func found(
    _ rows: PostgresRows, _ indexes: some Collection<Int>, _ lookup: Lookup
  ) -> Outcome {
    Result { () throws(StoreError) in
      try PostgresFoundCustomer(rows, indexes, in: lookup.scope, vault: vault)
    }
  }

  private func command(_ lookup: Lookup, onStandby: Bool) -> PostgresCommand {
    PostgresCommand(
      CustomerStatement(lookup.selector).statement(
        lookup.extent, onStandby: onStandby),
      lookup.selector.values(lookup.scopeID))
  }
}

extension PostgresFailure {
  /// Whether a single lookup of the batch may have caused the failure.
  fileprivate var mayBeCausedByOneLookup: Bool {
    switch kind {
    case .server, .timedOut, .poolTimedOut, .connectionLost: true
    default: false
    }
  }
}

extension CustomerSelector {
  fileprivate var accountID: String? {
    guard case .account(let id) = self else { return nil }
    return id.rawValue
  }

  /// The parameters of the ``CustomerStatement`` for the selector.
  fileprivate func values(_ scope: Int64) -> [PostgresValue] {
    switch self {
    case .account(let id): [.int64(scope), .text(id.rawValue)]
    case .originalTransaction(let id):
      [.int64(scope), .bytes(LinkTarget.chain(id).stored)]
    case .transaction(let id): [.int64(scope), .bytes(id.packedBytes)]
    case .appTransaction(let id):
      [
        .int64(scope), .bytes(LinkTarget.appTransaction(id).stored),
        .bytes(id.packedBytes),
      ]
    // No stored token is empty: the token that stands for none finds nobody (R43).
    case .appAccountToken(let token):
      [.int64(scope), .bytes(token.ofCustomer?.packedBytes ?? [])]
    }
  }
}

extension EvaluationPool {
  /// Decodes the rows of an exchange. The exchanges in flight bound how many wait, so they do not
  /// count against the limit of facts.
  func decode<Value: Sendable>(
    rows: Int, _ body: @escaping @Sendable () throws(PostgresFailure) -> Value
  ) async throws(PostgresFailure) -> Value {
    let outcome: Result<Value, PostgresFailure>
    do throws(PoolError) {
      outcome = try await run(facts: rows, weight: 0, of: .server) { _ in
        Result { () throws(PostgresFailure) in try body() }
      }
    } catch {
      switch error {
      case .cancelled: throw PostgresFailure(.cancelled, "the caller cancelled the read")
      case .full, .deadlineExceeded, .shutdown:
        throw PostgresFailure(.overloaded, "too many large customers are queued")
      }
    }
    return try outcome.get()
  }
}
