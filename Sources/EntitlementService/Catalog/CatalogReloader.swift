import CatalogFiles
import Dispatch
package import EntitlementDomain
package import EntitlementStore
package import Logging
import Synchronization

/// Reads the catalog file again and puts it in force when it is valid. Otherwise the old catalog
/// stays in force.
///
/// Reloads run one after the other on a dispatch queue, as parsing a large file would block an
/// event loop or a thread of Swift's pool. Calls that arrive during a reload share the next one.
package final class CatalogReloader: Sendable {
  private struct Waiter {
    let origin: ReloadOrigin
    let continuation: CheckedContinuation<CatalogReloadAttempt, Never>
  }

  private let source: CatalogSource
  private let holder: CatalogHolder
  private let clock: ServiceClock
  private let counters: ServiceCounters
  private let logger: Logger
  private let audit: BlockingAudit
  private let queue = DispatchQueue(label: "entitle.catalog")
  /// Keyed by `dryRun`.
  private let waiting = Mutex<[Bool: [Waiter]]>([:])
  /// Identifies the fault that was last logged at error level; nil after a valid file.
  private let loggedFault = Mutex<String?>(nil)

  /// - Parameter record: writes an entry of the audit trail (R76).
  package init(
    source: CatalogSource, holder: CatalogHolder, clock: ServiceClock, counters: ServiceCounters,
    logger: Logger,
    record: @escaping @Sendable (AuditCall) async throws(StoreError) -> Void = { _ in }
  ) {
    audit = BlockingAudit(record)
    self.source = source
    self.holder = holder
    self.clock = clock
    self.counters = counters
    self.logger = logger
  }

  /// Reads the file after the call began. A file that is already in force changes nothing. Another
  /// one is in the audit trail before it is in force (R76); of calls that share a reload, the first
  /// one is named.
  ///
  /// - Parameter dryRun: checks the file and changes nothing, no counter and no log either.
  package func reload(dryRun: Bool = false, by origin: ReloadOrigin = .server) async
    -> CatalogReloadAttempt
  {
    await withCheckedContinuation { continuation in
      let isFirst = waiting.withLock { waiting in
        waiting[dryRun, default: []].append(Waiter(origin: origin, continuation: continuation))
        return waiting[dryRun]?.count == 1
      }
      if isFirst { queue.async { self.answerWaiting(dryRun: dryRun) } }
    }
  }

  private func answerWaiting(dryRun: Bool) {
    // Taken before the file is read. A later caller may know of a change that this read misses.
    let waiters = waiting.withLock { $0.removeValue(forKey: dryRun) ?? [] }
    let attempt = dryRun ? readFile().attempt : apply(by: waiters.first?.origin ?? .server)
    for waiter in waiters { waiter.continuation.resume(returning: attempt) }
  }

  private func audit(_ digest: String, by origin: ReloadOrigin, at: Milliseconds) -> StoreError? {
    audit.write(
      AuditCall(
        method: "ReloadCatalog", caller: origin.caller, onBehalfOf: origin.onBehalfOf,
        subject: digest, at: at))
  }

  private func readFile() -> (attempt: CatalogReloadAttempt, contents: CatalogFile.Contents?) {
    let at = clock.now()
    do throws(CatalogSource.Unreadable) {
      let reading = try source.read()
      switch reading.contents {
      case .success(let contents):
        return (
          CatalogReloadAttempt(at: at, digest: reading.digest, issues: contents.warnings), contents
        )
      case .failure(let error):
        return (CatalogReloadAttempt(at: at, digest: reading.digest, issues: error.issues), nil)
      }
    } catch {
      return (CatalogReloadAttempt(at: at, digest: nil, failure: error.reason), nil)
    }
  }

  private func apply(by origin: ReloadOrigin) -> CatalogReloadAttempt {
    let (attempt, contents) = readFile()
    guard let contents, let digest = attempt.digest else { return failed(attempt) }
    let old = holder.snapshot.digest
    if digest != old, let failure = audit(digest, by: origin, at: attempt.at) {
      return failed(
        CatalogReloadAttempt(
          at: attempt.at, digest: digest,
          failure: "the audit trail cannot be written: \(failure.message)", isTransient: true))
    }
    counters.add(.catalogReloadValid)
    loggedFault.withLock { $0 = nil }
    guard digest != old else {
      holder.record(attempt)
      logger.info("the catalog file is already in force", metadata: ["digest": "\(digest)"])
      return attempt
    }
    holder.replace(with: contents.catalog, digest: digest, warnings: contents.warnings)
    // After the replacement, so that the status never shows a catalog that is not in force yet.
    // Before the log line, so that the status is current for an operator who has read it.
    holder.record(attempt)
    let size = contents.catalog.size
    logger.notice(
      "another catalog is in force",
      metadata: [
        "old_digest": "\(old)", "digest": "\(digest)", "apps": .stringConvertible(size.apps),
        "products": .stringConvertible(size.products),
        "entitlements": .stringConvertible(size.entitlements),
        "grandfathering_rules": .stringConvertible(size.grandfatheringRules),
      ])
    for warning in attempt.issues {
      logger.warning("catalog", metadata: ["issue": "\(warning)"])
    }
    return attempt
  }

  private func failed(_ attempt: CatalogReloadAttempt) -> CatalogReloadAttempt {
    counters.add(.catalogReloadFailed)
    holder.record(attempt)
    log(faultOf: attempt)
    return attempt
  }

  /// Logs each fault once at error level, as the same broken file may be read many times.
  private func log(faultOf attempt: CatalogReloadAttempt) {
    let fault = attempt.digest ?? attempt.failure ?? ""
    let isNew = loggedFault.withLock { logged in
      defer { logged = fault }
      return logged != fault
    }
    var metadata: Logger.Metadata = ["in_force": "\(holder.snapshot.digest)"]
    if let digest = attempt.digest { metadata["digest"] = "\(digest)" }
    metadata["reason"] = "\(attempt.failure ?? FileIssue.summary(of: attempt.issues))"
    logger.log(
      level: isNew ? .error : .info, "the catalog file cannot be used, the old one stays in force",
      metadata: metadata)
  }
}

/// The outcome of an attempt to put another catalog in force.
package struct CatalogReloadAttempt: Hashable, Sendable {
  package let at: Milliseconds
  /// SHA-256 of the file, hexadecimal; nil when the file could not be read.
  package let digest: String?
  /// Errors and warnings, in the order of the file. The reader of the file limits their number.
  package let issues: [FileIssue]
  /// Why the file could not be read; nil when it could.
  package let failure: String?
  /// True when the file can be in force. Otherwise the old catalog stays in force.
  package let isValid: Bool
  /// True when the same file may be in force after another attempt.
  package let isTransient: Bool

  package init(
    at: Milliseconds, digest: String?, issues: [FileIssue] = [], failure: String? = nil,
    isTransient: Bool = false
  ) {
    self.isTransient = isTransient
    self.at = at
    self.digest = digest
    self.issues = issues
    self.failure = failure
    isValid = failure == nil && !issues.contains { $0.severity == .error }
  }
}

extension FileIssue {
  /// The number of issues in a summary.
  private static var summaryLength: Int { 50 }

  /// The first errors of a catalog, one sentence each, and the number of the other issues.
  static func summary(of issues: [FileIssue]) -> String {
    // Errors only, as warnings that precede them in the file would crowd them out.
    var sentences = issues.filter { $0.severity == .error }.prefix(summaryLength).map { "\($0)" }
    if issues.count > sentences.count {
      sentences.append("\(issues.count - sentences.count) more")
    }
    return sentences.joined(separator: "; ")
  }
}

extension Catalog {
  /// The number of entries of each kind.
  package struct Size: Hashable, Sendable {
    package let apps: Int
    package let products: Int
    package let entitlements: Int
    package let grandfatheringRules: Int
  }

  package var size: Size {
    Size(
      apps: apps.count, products: products.count, entitlements: entitlements.count,
      grandfatheringRules: grandfathering.values.reduce(0) { $0 + $1.count })
  }
}
