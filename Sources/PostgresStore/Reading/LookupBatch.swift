import EntitlementDomain
import EntitlementStore

/// Looks up customers that are asked for together, in one round trip as a rule: from a replica where it
/// is new enough, else from the primary. A failure of one does not fail the others.
///
/// Accounts share a statement: half of what a read costs the database is to open and lock the partitions
/// that its statement names.
struct LookupBatch: Sendable {
  typealias Outcome = Result<FoundCustomer, StoreError>

  /// One customer to look up.
  struct Lookup: Sendable {
    let selector: CustomerSelector
    let scope: AppScope
    let scopeNumber: Int64
    let freshness: StoreFreshness
  }

  let primary: PostgresPool
  let replicas: ReplicaSet
  let extent: CustomerStatement.Extent
  let limit: Duration

  /// Whom each of the lookups finds.
  func find(_ lookups: [Lookup]) async -> [Outcome] {
    var outcomes = await read(lookups)
    // A merged account names another, which is never merged itself when it is read; only if that
    // is merged meanwhile there is another step.
    for step in 0..<Self.maximumSteps {
      let merged = outcomes.indices.filter { (try? outcomes[$0].get())?.mergedInto != nil }
      if merged.isEmpty { return outcomes }
      if step == Self.maximumSteps - 1 {
        for index in merged {
          outcomes[index] = .failure(
            StoreError(.unavailable, "the account is being merged again and again"))
        }
        return outcomes
      }
      let others = merged.map { index in
        let into = (try? outcomes[index].get())?.mergedInto
        // Another replica may not know of the merge yet.
        return Lookup(
          selector: into.map { .account($0) } ?? lookups[index].selector,
          scope: lookups[index].scope, scopeNumber: lookups[index].scopeNumber,
          freshness: .primary)
      }
      for (index, outcome) in zip(merged, await readPrimary(others)) { outcomes[index] = outcome }
    }
    return outcomes
  }

  private static let maximumSteps = 8

  private func read(_ lookups: [Lookup]) async -> [Outcome] {
    if replicas.isEmpty { return await readPrimary(lookups) }
    let mayBeCopies = lookups.indices.filter { lookups[$0].freshness != .primary }
    let others = lookups.indices.filter { lookups[$0].freshness == .primary }
    // They do not wait for the replica.
    async let direct = readPrimary(others.map { lookups[$0] })
    let copies = await readReplica(mayBeCopies.map { lookups[$0] })
    let passedOver = zip(mayBeCopies, copies).filter { $1 == nil }.map(\.0)
    let late = await readPrimary(passedOver.map { lookups[$0] })
    var outcomes: [Int: Outcome] = [:]
    for (index, customer) in zip(mayBeCopies, copies) {
      outcomes[index] = customer.map { .success($0) }
    }
    for (index, outcome) in zip(passedOver, late) { outcomes[index] = outcome }
    for (index, outcome) in zip(others, await direct) { outcomes[index] = outcome }
    return lookups.indices.compactMap { outcomes[$0] }
  }

  /// What a replica says; nil for what it does not know yet, and when there is none that answers.
  private func readReplica(_ lookups: [Lookup]) async -> [FoundCustomer?] {
    let nothing = [FoundCustomer?](repeating: nil, count: lookups.count)
    if lookups.isEmpty { return nothing }
    let results = await replicas.read(
      lookups.map { command($0, onStandby: true) }, within: limit
    ) { results throws(StoreError) -> [FoundCustomer?] in
      guard results.count == lookups.count else {
        throw StoreError(.internalFault, "PostgreSQL answered what was not expected")
      }
      var found: [FoundCustomer?] = []
      found.reserveCapacity(results.count)
      for (rows, lookup) in zip(results, lookups) {
        let customer = try FoundCustomer(rows, 0..<rows.count, in: lookup.scope)
        // Below the horizon, nothing is missing.
        let isNewEnough =
          if case .includes(let position) = lookup.freshness, let horizon = customer.horizon {
            horizon > position
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
      // Several have half of the time, so that there is some left for each alone.
      return try await readTogether(
        lookups, until: lookups.count == 1 ? deadline : deadline - limit / 2)
    } catch {
      guard lookups.count > 1, error.mayBeOfOne, deadline > .now else {
        let failure = StoreError(translating: error)
        return lookups.map { _ in .failure(failure) }
      }
    }
    return await readApart(lookups, until: deadline)
  }

  /// What one of the lookups made the server refuse, or too slow, is no failure of the others.
  private func readApart(
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
      if extent == .record, case .account = lookups[index].selector {
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
            .int64s(accounts.map { lookups[$0].scopeNumber }),
            .texts(accounts.map { lookups[$0].selector.accountID }),
          ]))
    }
    let results = try await primary.read(
      commands, within: ContinuousClock.now.duration(to: deadline))
    guard results.count == commands.count else {
      throw PostgresFailure(.protocolViolation, "the answer has too few results")
    }
    var outcomes = [Outcome?](repeating: nil, count: lookups.count)
    for (index, rows) in zip(others, results) {
      outcomes[index] = found(rows, 0..<rows.count, lookups[index])
    }
    if !accounts.isEmpty {
      let rows = results[results.count - 1]
      var indexes = [[Int]](repeating: [], count: accounts.count)
      for row in 0..<rows.count {
        let place = Int(try rows.int64(row, CustomerStatement.columns)) - 1
        guard indexes.indices.contains(place) else {
          throw PostgresFailure(.protocolViolation, "the answer has a row that was not asked for")
        }
        indexes[place].append(row)
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
    Result { () throws(StoreError) in try FoundCustomer(rows, indexes, in: lookup.scope) }
  }

  private func command(_ lookup: Lookup, onStandby: Bool) -> PostgresCommand {
    PostgresCommand(
      CustomerStatement(lookup.selector).statement(extent, onStandby: onStandby),
      lookup.selector.values(lookup.scopeNumber))
  }
}

extension PostgresFailure {
  /// Whether one of several reads may be the reason.
  fileprivate var mayBeOfOne: Bool {
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

  /// The parameters of its ``CustomerStatement``.
  fileprivate func values(_ scope: Int64) -> [PostgresValue] {
    switch self {
    case .account(let id): [.int64(scope), .text(id.rawValue)]
    case .originalTransaction(let id):
      [.int64(scope), .text(LinkTarget.chain(id).stored)]
    case .transaction(let id): [.int64(scope), .text(id.rawValue)]
    case .appTransaction(let id):
      [
        .int64(scope), .text(LinkTarget.appTransaction(id).stored),
        .text(LinkHint.appTransaction(id).stored(isSigned: true)),
        .text(LinkHint.appTransaction(id).stored(isSigned: false)),
      ]
    case .appAccountToken(let token):
      [
        .int64(scope), .text(token.rawValue),
        .text(LinkHint.token(token).stored(isSigned: true)),
      ]
    }
  }
}
