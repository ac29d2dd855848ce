import EntitlementDomain
import EntitlementService
import EntitlementStore
import Logging
import Synchronization

// Rows of imports of accounts (R89). They have attempts of their own, so that they do not take those of
// refetches and reconciliations, and share the rates of the App Store with them, first come, first served.
extension AppStoreRecovery {
  /// Leases rows while fewer than ``RecoveryLimits/importRows`` are done.
  func importAccounts() async {
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled {
        let free = limits.importRows - counters.importing
        // A lease for each row that ends would be a write for each.
        let wanted = free >= max(1, limits.importRows / 4) ? free : 0
        let leased = wanted > 0 ? await leaseRows(wanted) : []
        for (row, lease) in leased {
          counters.importBegan()
          group.addTask { await self.attempt(row, lease) }
        }
        let isBusy = leased.count == wanted
        let pause = isBusy ? limits.pollInterval / 200 : limits.pollInterval
        if (try? await timer.sleep(pause)) == nil { return }
      }
    }
  }

  /// Begins no attempt of an app and environment before a moment.
  func pauseImports(of scope: AppScope, until moment: Milliseconds) {
    importPauses.withLock { $0[scope] = max($0[scope] ?? moment, moment) }
  }

  /// The end of a wait. A random part is added, so that jobs do not come back together.
  ///
  /// - Parameters:
  ///   - wait: at least.
  ///   - moment: from when on it may go on, as far as that is known.
  func end(of wait: Duration, until moment: Milliseconds?) -> Milliseconds {
    let earliest = jobClock.now().advanced(by: wait)
    return max(earliest, moment ?? earliest).advanced(by: wait * Double.random(in: 0...0.5))
  }

  private func leaseRows(_ count: Int) async -> [(AccountImportRow, lease: String)] {
    let now = jobClock.now()
    let paused = importPauses.withLock { pauses in
      pauses = pauses.filter { $0.value > now }
      return pauses
    }
    let scopes = scopes.filter { paused[$0] == nil }
    guard !scopes.isEmpty else { return [] }
    let name = String(UInt64.random(in: .min ... .max), radix: 16)
    do throws(StoreError) {
      return try await store.leaseImportRows(
        AccountImportLease(
          scopes: scopes, now: now, until: now.advanced(by: limits.importLeaseTime), lease: name,
          limit: count)
      ).map { ($0, name) }
    } catch {
      logger.warning("rows of imports cannot be leased", metadata: ["reason": "\(error)"])
      return []
    }
  }

  /// Renews the leases of the rows that are being done. Whatever it finds is no failure: such a row is done
  /// again.
  func renewImportLeases() async {
    while (try? await timer.sleep(limits.importLeaseTime / 3)) != nil {
      let held = heldRows.withLock { $0 }
      if held.isEmpty { continue }
      do throws(StoreError) {
        try await store.renewImportLeases(
          held, until: jobClock.now().advanced(by: limits.importLeaseTime))
      } catch {
        logger.warning(
          "the leases of rows of imports cannot be renewed", metadata: ["reason": "\(error)"])
      }
    }
  }

  private func attempt(_ row: AccountImportRow, _ lease: String) async {
    heldRows.withLock { $0[row.place] = lease }
    defer {
      heldRows.withLock { held in
        if held[row.place] == lease { held[row.place] = nil }
      }
    }
    let report = await ImportAttempt(row, lease: lease, of: self).report()
    let isStored = await reports.store(report)
    counters.importEnded(isStored ? report.state : nil)
  }
}

/// Stores the reports of attempts at rows. Reports that arrive during a write share the next write.
final class ImportReports: Sendable {
  private struct State {
    var waiting: [(report: AccountImportReport, answer: CheckedContinuation<Bool, Never>)] = []
    var isWriting = false
  }

  private let target: any EntitlementStore
  private let logger: Logger
  private let state = Mutex(State())

  init(target: any EntitlementStore, logger: Logger) {
    self.target = target
    self.logger = logger
  }

  /// - Returns: false when it could not be stored: the row is leased again when its lease ends.
  func store(_ report: AccountImportReport) async -> Bool {
    await withCheckedContinuation { answer in
      let mustWrite = state.withLock { state in
        state.waiting.append((report, answer))
        defer { state.isWriting = true }
        return !state.isWriting
      }
      // Detached: a cancelled attempt reports too, so that others need not wait for its lease.
      if mustWrite { Task.detached { await self.write() } }
    }
  }

  private func write() async {
    while true {
      let batch = state.withLock { state in
        defer { state.waiting = [] }
        state.isWriting = !state.waiting.isEmpty
        return state.waiting
      }
      if batch.isEmpty { return }
      var isStored = true
      do throws(StoreError) {
        try await target.report(batch.map(\.report))
      } catch {
        isStored = false
        logger.warning(
          "the rows of an import cannot be stored", metadata: ["reason": "\(error)"])
      }
      for entry in batch { entry.answer.resume(returning: isStored) }
    }
  }
}
