import AppStoreServerAPI
import EntitlementDomain
import EntitlementService
import EntitlementStore
import Logging
import NIOCore

// Tells the App Store about the consumption of a purchase (R86). A call is made once, or again after a
// failure that changed nothing at Apple (R88).
extension JobAttempt {
  mutating func sendConsumption(
    about transaction: TransactionID
  ) async throws(AttemptFault) -> Milliseconds? {
    switch try await decide(about: transaction) {
    case .decision(.send(let information), let record):
      consumptionDeadline = record.request?.deadline
      try await send(information, about: transaction)
    case .decision(.wait(let cause), let record):
      consumptionDeadline = record.request?.deadline
      throw .waiting("waits: \(cause.name)")
    case .decision(.end(let cause), _): recovery.counters.ended(cause)
    case .leaseLost: throw .leaseLost
    // The request has ended, and with it the job.
    case .unknown, .record, .consent, .refused: break
    }
    return nil
  }

  private func decide(
    about transaction: TransactionID
  ) async throws(AttemptFault) -> ConsumptionAnswer {
    do throws(StoreError) {
      return try await recovery.store.change(change(.begin(transaction, lease: lease)))
    } catch {
      throw .store(error)
    }
  }

  private mutating func send(
    _ information: ConsumptionInformation, about transaction: TransactionID
  ) async throws(AttemptFault) {
    let (client, scope, left) = (recovery.client, scope, timeLeft)
    // Detached, as a call that is cancelled has an uncertain end.
    let fault: AppStoreServerError? = await Task.detached { () -> AppStoreServerError? in
      do throws(AppStoreServerError) {
        try await client.sendConsumption(
          information, of: transaction, in: scope, deadline: .now() + TimeAmount(left))
        return nil
      } catch {
        return error
      }
    }.value
    if fault == nil { answered() }
    let outcome = fault.map { ConsumptionOutcome(of: $0) } ?? .sent(information)
    await store(outcome, of: transaction)
    switch outcome {
    case .sent: recovery.counters.ended(nil)
    case .refused: recovery.counters.ended(.appleRefused)
    case .uncertain: recovery.counters.ended(.outcomeUncertain)
    case .failed: if let fault { throw .appStore(fault) }
    }
  }

  /// Stores how a call ended. When the store takes it at no attempt, the mark of the call stays, and the
  /// outcome is uncertain for the next holder of a lease.
  private func store(_ outcome: ConsumptionOutcome, of transaction: TransactionID) async {
    let (store, timer, logger) = (recovery.store, recovery.timer, recovery.logger)
    let pause = recovery.limits.pollInterval
    let change = change(.end(transaction, lease: lease, outcome))
    await Task.detached {
      for attempt in 1...Self.storingAttempts {
        do throws(StoreError) {
          _ = try await store.change(change)
          return
        } catch {
          var isLast = attempt == Self.storingAttempts
          if !isLast { isLast = (try? await timer.sleep(pause)) == nil }
          guard isLast else { continue }
          logger.error(
            "how consumption was told cannot be stored", metadata: ["reason": "\(error)"])
          return
        }
      }
    }.value
  }

  private static var storingAttempts: Int { 5 }

  private func change(_ change: ConsumptionChange.Change) -> ConsumptionChange {
    ConsumptionChange(
      change, in: scope, at: recovery.clock.now(), jobsAt: recovery.jobClock.now(),
      catalog: recovery.catalog.snapshot.catalog)
  }
}

extension ConsumptionOutcome {
  /// R88. Any answer of Apple is certain: after one that may be repeated, Apple asks to try again.
  init(of error: AppStoreServerError) {
    let reason = error.description + (error.errorCode.map { " (\($0))" } ?? "")
    switch error.code {
    case .refused:
      let isFinal =
        error.errorCode != nil && !error.isRetryable && error.errorCode != .transactionIDNotFound
      self = isFinal ? .refused(reason) : .failed(reason)
    case .invalidRequest: self = .refused(reason)
    case .rateLimited, .unauthorized: self = .failed(reason)
    default: self = error.mayHaveTakenEffect ? .uncertain(reason) : .failed(reason)
    }
  }
}
