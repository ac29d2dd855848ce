package import AppStoreServerAPI
package import EntitlementDomain
package import EntitlementService
package import EntitlementStore
package import Logging
package import NIOCore
import Synchronization
import Verification
import Workers

/// The limits of ``CustomerFetcher``.
package struct FetchLimits: Hashable, Sendable {
  /// Customers that are fetched at a time.
  package var fetches = 32
  /// Calls that wait for them, all together.
  package var callers = 1_024
  /// The time of one fetch. Callers may have gone by then.
  package var time = TimeAmount.seconds(30)
  /// Pages of a history, of 20 transactions each. A job fetches a longer one.
  package var pages = 50
  /// Bytes of signed payloads after which no further page is asked for. A job fetches the rest.
  package var bytes = 4 << 20
  /// Signed payloads in one submission.
  package var batch = 100
  /// How long the App Store is not asked again for an id that it did not know, or whose fetch stored
  /// no customer of the id. It may know a new purchase a moment later.
  package var absenceTime = Duration.seconds(60)
  /// Ids that are remembered so; the oldest one is forgotten first.
  package var absences = 10_000

  package init() {}
}

/// Fetches the customers of whom nothing is stored (R85): the whole history, and the statuses of the
/// subscriptions.
package final class CustomerFetcher: CustomerFetching {
  private struct Key: Hashable {
    let scope: AppScope
    let selector: CustomerSelector
  }

  /// What a fetch found. All but `stored` are remembered: the store is read before a fetch, so none
  /// hides a customer that is known by now.
  private enum Finding {
    /// The store finds the customer by the id now.
    case stored
    /// The App Store does not know the id.
    case absent
    /// The whole customer was stored, and no such id of it is in there.
    case otherKind
    /// A part of the customer was stored, without the id. A job fetches the rest.
    case unfinished

    /// What callers are answered: whether the customer is stored.
    var answer: Result<Bool, ServiceError> {
      switch self {
      case .stored: .success(true)
      case .absent: .success(false)
      case .otherKind:
        .failure(
          ServiceError(
            .appStore(AppStoreFailure(.invalidRequest)),
            "the App Store knows the id, but not as an id of this kind"))
      case .unfinished:
        .failure(
          ServiceError(
            .unavailable, "a part of the customer was fetched, and a job fetches the rest"))
      }
    }
  }

  /// How a fetch ended.
  private enum Outcome: String, CaseIterable {
    /// Something was stored.
    case fetched
    /// The App Store does not know the id.
    case absent
    case failed
  }

  private struct State {
    /// The callers of each fetch in flight. One without any is still in flight.
    var flights: [Key: [ObjectIdentifier: FetchWaiter]] = [:]
    var callers = 0
    var absences: AbsentIDs<Key, Finding>
    var outcomes: [Outcome: Int64] = [:]
    var shed: Int64 = 0
    var absenceHits: Int64 = 0
  }

  private let store: any EntitlementStore
  private let client: AppStoreServerClient
  private let submissions: SubmissionService
  private let reach: JobRecords.Reach
  private let jobClock: ServiceClock
  private let timer: ServiceTimer
  private let limits: FetchLimits
  private let logger: Logger
  private let state: Mutex<State>

  /// - Parameters:
  ///   - reach: the environments in which an app may be asked about.
  ///   - jobClock: the system's.
  ///   - timer: of the absences.
  package init(
    store: any EntitlementStore, client: AppStoreServerClient, submissions: SubmissionService,
    jobClock: ServiceClock = .system, timer: ServiceTimer = .system,
    limits: FetchLimits = FetchLimits(), logger: Logger, reach: @escaping JobRecords.Reach
  ) {
    self.store = store
    self.client = client
    self.submissions = submissions
    self.reach = reach
    self.jobClock = jobClock
    self.timer = timer
    self.limits = limits
    self.logger = logger
    state = Mutex(State(absences: AbsentIDs(limit: limits.absences, time: limits.absenceTime)))
  }

  package var values: [StatisticValue] {
    state.withLock { state in
      [
        StatisticValue("fetches.in_flight", state.flights.count),
        StatisticValue("fetches.in_flight_limit", limits.fetches),
        StatisticValue("fetches.waiting", state.callers),
        StatisticValue("fetches.waiting_limit", limits.callers),
        StatisticValue("fetches.negative_hits", state.absenceHits),
        StatisticValue("fetches.outcomes.shed", state.shed),
      ]
        + Outcome.allCases.map {
          StatisticValue("fetches.outcomes.\($0.rawValue)", state.outcomes[$0] ?? 0)
        }
    }
  }

  // MARK: Single flight

  private enum Admission {
    case remembered(Finding)
    case shed
    case joined
    case begun
  }

  package func fetch(
    _ selector: CustomerSelector, in scope: AppScope
  ) async throws(ServiceError) -> Bool {
    try JobRecords.check(reach(scope.bundleID), reach: scope)
    guard let id = selector.appStoreID else { return false }
    let key = Key(scope: scope, selector: selector)
    let waiter = FetchWaiter()
    let now = timer.now()
    let admission = state.withLock { state -> Admission in
      if let finding = state.absences.finding(of: key, now: now) {
        state.absenceHits += 1
        return .remembered(finding)
      }
      let isInFlight = state.flights[key] != nil
      guard state.callers < limits.callers, isInFlight || state.flights.count < limits.fetches
      else {
        state.shed += 1
        return .shed
      }
      state.callers += 1
      state.flights[key, default: [:]][ObjectIdentifier(waiter)] = waiter
      return isInFlight ? .joined : .begun
    }
    switch admission {
    case .remembered(let finding): return try finding.answer.get()
    case .shed:
      throw ServiceError(
        .appStore(AppStoreFailure(.busy, isRetryable: true)),
        "too many customers are being fetched from the App Store")
    case .begun:
      // Detached: it serves others too, and goes on when this caller is gone.
      Task.detached { await self.fly(key, id) }
    case .joined: break
    }
    defer {
      state.withLock { state in
        state.callers -= 1
        state.flights[key]?[ObjectIdentifier(waiter)] = nil
      }
    }
    return try await waiter.value()
  }

  private func fly(_ key: Key, _ id: TransactionID) async {
    let result: Result<Finding, ServiceError>
    do throws(ServiceError) {
      result = .success(try await fetchAll(of: id, for: key))
    } catch {
      result = .failure(error)
    }
    let outcome: Outcome =
      switch result {
      case .success(.stored), .success(.otherKind), .success(.unfinished): .fetched
      case .success(.absent): .absent
      case .failure: .failed
      }
    if case .failure(let error) = result {
      logger.info(
        "a customer could not be fetched from the App Store",
        metadata: [
          "bundle_id": "\(key.scope.bundleID)", "environment": "\(key.scope.environment.rawValue)",
          "reason": "\(error)",
        ])
    }
    let now = timer.now()
    let waiters = state.withLock { state in
      state.outcomes[outcome, default: 0] += 1
      switch result {
      case .success(.stored), .failure: break
      case .success(let finding): state.absences.insert(key, finding, now: now)
      }
      return state.flights.removeValue(forKey: key) ?? [:]
    }
    let answer = result.flatMap(\.answer)
    for waiter in waiters.values { waiter.finish(answer) }
  }

  // MARK: The fetch

  /// All is fetched before anything is stored: what is known of a customer in part is not asked for
  /// again.
  private func fetchAll(
    of id: TransactionID, for key: Key
  ) async throws(ServiceError) -> Finding {
    let scope = key.scope
    let deadline = NIODeadline.now() + limits.time
    var payloads: [String] = []
    var isComplete = true
    do throws(AppStoreServerError) {
      var revision: String?
      var pages = 0
      var bytes = 0
      while true {
        let page = try await client.history(of: id, in: scope, from: revision, deadline: deadline)
        payloads += page.signedTransactions
        pages += 1
        bytes += page.signedTransactions.reduce(0) { $0 + $1.utf8.count }
        guard let next = page.next else { break }
        guard pages < limits.pages, bytes < limits.bytes else {
          isComplete = false
          break
        }
        revision = next
      }
      guard !payloads.isEmpty else { return .absent }
      let statuses = try await client.subscriptionStatuses(of: id, in: scope, deadline: deadline)
      // First: what is current is right, whatever becomes of the rest.
      payloads.insert(
        contentsOf: statuses.subscriptions.flatMap {
          [$0.signedTransactionInfo, $0.signedRenewalInfo].compactMap(\.self)
        }, at: 0)
    } catch {
      if payloads.isEmpty, error.isAboutUnknownID { return .absent }
      // Apple has just shown transactions of the id. A job asks for what it does not know now.
      guard !payloads.isEmpty, error.errorCode == .transactionIDNotFound else {
        throw ServiceError(error)
      }
      isComplete = false
    }
    let isWhole = try await submit(payloads, isComplete: isComplete, in: scope)
    do throws(StoreError) {
      // The App Store takes an id of each kind, the store only the one that is named.
      if try await store.customer(key.selector, in: scope).record.revision != 0 { return .stored }
    } catch {
      throw ServiceError(error)
    }
    return isWhole ? .otherKind : .unfinished
  }

  /// Stores payloads as if they were submitted. No account is named, so none gets the purchases but by
  /// a token that is bound to it, as for every submission (R43).
  ///
  /// - Parameter isComplete: false if there is more. A job fetches the rest, and also what could not be
  ///   stored.
  /// - Returns: whether there is no more, and all was stored.
  private func submit(
    _ payloads: [String], isComplete: Bool, in scope: AppScope
  ) async throws(ServiceError) -> Bool {
    var rest = payloads[...]
    var chain: OriginalTransactionID?
    var refusal: ItemResult?
    do throws(ServiceError) {
      while !rest.isEmpty {
        let batch = rest.prefix(limits.batch)
        rest = rest.dropFirst(batch.count)
        let result = try await submissions.submit(
          TransactionSubmission(
            signedPayloads: batch.map { Array($0.utf8) }, permits: { $0 == scope }))
        for item in result.items {
          if item.verdict == .ok {
            chain = chain ?? item.originalTransactionID
          } else {
            refusal = item
          }
        }
      }
    } catch {
      if let chain { await openJob(of: chain, in: scope) }
      throw error
    }
    guard let chain else {
      // The App Store knows the customer: an answer that says otherwise would be wrong.
      let verdict = refusal?.verdict.name ?? "none"
      throw ServiceError(
        .unavailable, "what the App Store sent of the customer was refused: \(verdict)")
    }
    let isWhole = isComplete && refusal == nil
    if !isWhole { await openJob(of: chain, in: scope) }
    return isWhole
  }

  private func openJob(of chain: OriginalTransactionID, in scope: AppScope) async {
    do throws(StoreError) {
      _ = try await store.change(
        AppStoreJobRequest(
          .open(AppStoreJobKey(scope, .refetch(chain)), since: nil), at: jobClock.now()))
    } catch {
      logger.warning(
        "the rest of a customer cannot be fetched by a job", metadata: ["reason": "\(error)"])
    }
  }
}

extension AppStoreServerError {
  /// Whether the first question about an id was answered with: there is none, or it is no id.
  fileprivate var isAboutUnknownID: Bool {
    guard let errorCode else { return false }
    return [
      .transactionIDNotFound, .invalidTransactionID, .accountNotFound,
      .originalTransactionIDNotFound,
    ].contains(errorCode)
  }
}

extension CustomerSelector {
  /// The id that the App Store is asked for. It finds a customer by an id of each kind.
  fileprivate var appStoreID: TransactionID? {
    switch self {
    case .originalTransaction(let id): TransactionID(id.rawValue)
    case .transaction(let id): id
    case .appTransaction(let id): TransactionID(id.rawValue)
    case .account, .appAccountToken: nil
    }
  }
}

/// Ids for which nothing was found a moment ago, with what was found instead. Bounded.
struct AbsentIDs<ID: Hashable, Finding> {
  private let limit: Int
  private let time: Duration
  private var found: [ID: (finding: Finding, end: Duration)] = [:]
  /// In the order of their ends, as all have the same time. What is before `first` is forgotten.
  private var order: [ID] = []
  private var first = 0

  init(limit: Int, time: Duration) {
    self.limit = limit
    self.time = time
  }

  mutating func finding(of id: ID, now: Duration) -> Finding? {
    forget(now: now)
    return found[id]?.finding
  }

  mutating func insert(_ id: ID, _ finding: Finding, now: Duration) {
    forget(now: now)
    guard limit > 0, found[id] == nil else { return }
    if found.count == limit { forgetFirst() }
    found[id] = (finding, now + time)
    order.append(id)
  }

  private mutating func forget(now: Duration) {
    while first < order.count, let end = found[order[first]]?.end, end <= now { forgetFirst() }
  }

  private mutating func forgetFirst() {
    found[order[first]] = nil
    first += 1
    // Each id is moved once.
    if first * 2 > order.count {
      order.removeFirst(first)
      first = 0
    }
  }
}

/// A caller that waits for a fetch, or for its own cancellation.
private final class FetchWaiter: Sendable {
  private enum State {
    case idle
    case waiting(CheckedContinuation<Result<Bool, ServiceError>, Never>)
    case ended(Result<Bool, ServiceError>)
  }

  private let state = Mutex(State.idle)

  func value() async throws(ServiceError) -> Bool {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let ended = state.withLock { state -> Result<Bool, ServiceError>? in
          if case .ended(let result) = state { return result }
          state = .waiting(continuation)
          return nil
        }
        if let ended { continuation.resume(returning: ended) }
      }
    } onCancel: {
      finish(.failure(ServiceError(.cancelled, "the caller cancelled the call")))
    }
    return try result.get()
  }

  /// Only the first result counts.
  func finish(_ result: Result<Bool, ServiceError>) {
    let waiting = state.withLock {
      state -> CheckedContinuation<Result<Bool, ServiceError>, Never>? in
      defer { if case .ended = state {} else { state = .ended(result) } }
      if case .waiting(let continuation) = state { return continuation }
      return nil
    }
    waiting?.resume(returning: result)
  }
}
