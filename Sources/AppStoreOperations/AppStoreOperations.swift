package import AppStoreServerAPI
import EntitlementDomain
package import EntitlementService
package import EntitlementStore
package import Logging
package import NIOCore
import Synchronization
import Wire

/// The limits of ``AppStoreOperations``.
package struct AppStoreOperationLimits: Hashable, Sendable {
  /// Calls of operators at a time. Each waits for Apple, and its answer may have some megabytes.
  package var calls = 16
  /// The longest time of a call, with all its pages and their verification. An earlier deadline of the
  /// caller ends it before.
  package var callTime = TimeAmount.seconds(60)
  /// What is left of a deadline when Apple is no longer waited for, so that the caller hears how it
  /// ended.
  package var margin = TimeAmount.milliseconds(250)
  /// Bytes of signed payloads after which no further page is asked for. With their contents they fit a
  /// message.
  package var pageBytes = 1 << 20

  package init() {}
}

/// Asks the App Store for operators, and changes there what they order.
package final class AppStoreOperations: AppStoreDesk {
  let store: any EntitlementStore
  let client: AppStoreServerClient
  let submissions: SubmissionService
  /// The environments in which an app may be asked about.
  let reach: JobRecords.Reach
  let clock: ServiceClock
  let limits: AppStoreOperationLimits
  let logger: Logger
  private let calls = Mutex(0)
  /// Changes that were asked for, or are about to be, and have no outcome in the audit trail yet.
  private let changes = Mutex(0)

  /// - Parameter clock: of the service.
  package init(
    store: any EntitlementStore, client: AppStoreServerClient, submissions: SubmissionService,
    clock: ServiceClock, limits: AppStoreOperationLimits = AppStoreOperationLimits(),
    logger: Logger, reach: @escaping JobRecords.Reach
  ) {
    self.store = store
    self.client = client
    self.submissions = submissions
    self.reach = reach
    self.clock = clock
    self.limits = limits
    self.logger = logger
  }

  package var values: [StatisticValue] {
    [
      StatisticValue("app_store_operations.in_progress", calls.withLock { $0 }),
      StatisticValue("app_store_operations.in_progress_limit", limits.calls),
    ]
  }

  // MARK: Steps

  /// Runs a call if fewer than ``AppStoreOperationLimits/calls`` are in progress.
  ///
  /// - Parameter body: gets the call with a deadline, of ``AppStoreOperationLimits/callTime`` at most.
  func limited<Value>(
    _ call: AppStoreCall, _ body: (AppStoreCall) async throws(ServiceError) -> Value
  ) async throws(ServiceError) -> Value {
    let isFree = calls.withLock { calls in
      guard calls < limits.calls else { return false }
      calls += 1
      return true
    }
    guard isFree else {
      throw ServiceError(
        .appStore(AppStoreFailure(.busy, isRetryable: true)),
        "\(limits.calls) calls of the App Store are in progress")
    }
    defer { calls.withLock { $0 -= 1 } }
    return try await body(call.ending(by: .now() + limits.callTime))
  }

  /// Runs a change, which ``drain(within:)`` waits for.
  func drained<Value>(
    _ body: () async throws(ServiceError) -> Value
  ) async throws(ServiceError) -> Value {
    changes.withLock { $0 += 1 }
    defer { changes.withLock { $0 -= 1 } }
    return try await body()
  }

  /// Waits until every change that was begun has its outcome in the audit trail. To be called when the
  /// client is shut down, so that none waits for Apple, and before the store closes.
  ///
  /// - Parameter time: the longest wait. The log has what cannot be written then.
  package func drain(within time: Duration) async {
    let end = ContinuousClock.now + time
    while changes.withLock({ $0 > 0 }), ContinuousClock.now < end {
      do {
        try await Task.sleep(for: Self.drainInterval)
      } catch {
        return
      }
    }
  }

  private static let drainInterval = Duration.milliseconds(10)

  /// When Apple is no longer waited for.
  func deadline(of call: AppStoreCall) -> NIODeadline {
    call.deadline.map { $0 - limits.margin } ?? .now() + limits.callTime
  }

  /// Asks in one environment.
  func ask<Value: Sendable>(
    in scope: AppScope, _ call: AppStoreCall,
    _ body: (AppStoreServerClient, AppScope, NIODeadline) async throws(AppStoreServerError) -> Value
  ) async throws(ServiceError) -> Value {
    try JobRecords.check(reach(scope.bundleID), reach: scope)
    do throws(AppStoreServerError) {
      return try await body(client, scope, deadline(of: call))
    } catch {
      throw ServiceError(error)
    }
  }

  /// Asks in one environment, or in Production and then in Sandbox.
  ///
  /// - Parameter orSandbox: whether the scope's environment is only the first one. Environments that
  ///   the caller may not use, or this server does not serve, are left out.
  /// - Returns: the answer, and the environment that gave it.
  func ask<Value: Sendable>(
    in scope: AppScope, orSandbox: Bool, _ call: AppStoreCall,
    _ body: (AppStoreServerClient, AppScope, NIODeadline) async throws(AppStoreServerError) -> Value
  ) async throws(ServiceError) -> (scope: AppScope, value: Value) {
    let environments: [StoreEnvironment] =
      orSandbox && scope.environment == .production ? [.production, .sandbox] : [scope.environment]
    let permitted = environments.map {
      AppScope(bundleID: scope.bundleID, environment: $0)
    }.filter(call.permits)
    guard let first = permitted.first else {
      throw ServiceError(
        .failedPrecondition, "the caller may use neither Production nor Sandbox of the app")
    }
    let reached = reach(scope.bundleID)
    let scopes = permitted.filter { reached.contains($0.environment) }
    guard scopes.count == 2 else {
      let scope = scopes.first ?? first
      return (scope, try await ask(in: scope, call, body))
    }
    let deadline = deadline(of: call)
    do throws(AppStoreServerError) {
      let found = try await client.inEitherEnvironment(of: scope.bundleID) {
        (scope) async throws(AppStoreServerError) in
        try await body(client, scope, deadline)
      }
      if let found { return (found.app, found.value) }
    } catch {
      throw ServiceError(error)
    }
    throw ServiceError(
      .appStore(
        AppStoreFailure(
          .notFound, status: 404, code: AppStoreErrorCode.transactionIDNotFound.rawValue,
          name: AppStoreErrorCode.transactionIDNotFound.name)),
      "neither Production nor Sandbox knows the id (\(AppStoreErrorCode.transactionIDNotFound))")
  }

  /// Checks the length of texts that the generated messages do not check: the entries of lists.
  static func check(
    _ texts: [String], as field: String, limit: Int
  ) throws(ServiceError) {
    guard texts.allSatisfy({ (1...limit).contains($0.utf8.count) }) else {
      throw ServiceError(
        .invalidArgument(field: field), "each of \(field) must be 1 to \(limit) bytes long")
    }
  }
}

extension AppStoreCall {
  /// The same call, with a deadline that is not after a moment.
  fileprivate func ending(by limit: NIODeadline) -> AppStoreCall {
    AppStoreCall(
      deadline: min(deadline ?? .distantFuture, limit), source: source, caller: caller,
      permits: permits, isCancelled: isCancelled)
  }

  /// The deadline on the clock of verification.
  var instant: ContinuousClock.Instant? {
    deadline.map { ContinuousClock.now + .nanoseconds(($0 - .now()).nanoseconds) }
  }
}

extension ServiceError {
  /// Maps an error of the client. The text has none of the ids of the request.
  init(_ error: AppStoreServerError) {
    let kind: AppStoreFailure.Kind =
      switch error.code {
      case .invalidRequest, .unsupportedEnvironment: .invalidRequest
      case .noKey, .keyUnusable, .unauthorized: .keyRefused
      case .rateLimited: .rateLimited
      case .busy: .busy
      case .unreachable, .invalidResponse, .responseTooLong, .endlessPages: .unavailable
      case .deadlineExceeded: .deadlineExceeded
      case .shutDown: .unavailable
      case .cancelled: .cancelled
      case .refused:
        switch error.status {
        case _ where error.isRetryable: .unavailable
        case 400: .invalidRequest
        case 404 where error.errorCode != nil: .notFound
        case .some(400..<500), nil: .refused
        default: .unavailable
        }
      }
    let wait = error.retryAt.map { moment in
      Duration.milliseconds(max(0, moment.rawValue - ServiceClock.system.now().rawValue))
    }
    var message = "the App Store: \(error.message)"
    switch error.code {
    case .unauthorized:
      message +=
        ": the key, its ids, the bundle id or the clock is wrong, or the app has no release in "
        + "Production yet"
    case .invalidRequest, .unsupportedEnvironment, .noKey, .keyUnusable: message = error.message
    default: break
    }
    if error.mayHaveTakenEffect { message += "; the change may have been made" }
    self.init(
      .appStore(
        AppStoreFailure(
          kind, status: error.status, code: error.errorCode?.rawValue,
          name: error.errorCode?.name, isRetryable: error.isRetryable, retryAfter: wait,
          mayHaveTakenEffect: error.mayHaveTakenEffect)),
      message)
  }
}
