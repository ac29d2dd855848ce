import Dispatch
package import EntitlementDomain
package import Logging
import Synchronization

/// Reads the catalog file again and puts it in force when it is valid; otherwise the old one stays.
///
/// One reload after the other, on a queue of its own: parsing a large file takes time that event
/// loops and Swift's threads do not have. Callers that come while one is under way share the next.
package final class CatalogReloader: Sendable {
  private typealias Waiter = CheckedContinuation<CatalogAttempt, Never>

  private let source: CatalogSource
  private let holder: CatalogHolder
  private let clock: ServiceClock
  private let counters: ServiceCounters
  private let logger: Logger
  private let queue = DispatchQueue(label: "entitle.catalog")
  /// By whether they only want to know.
  private let waiting = Mutex<[Bool: [Waiter]]>([:])
  /// What was wrong when it was last logged as an error; nil since a file was valid.
  private let loggedFault = Mutex<String?>(nil)

  package init(
    source: CatalogSource, holder: CatalogHolder, clock: ServiceClock, counters: ServiceCounters,
    logger: Logger
  ) {
    self.source = source
    self.holder = holder
    self.clock = clock
    self.counters = counters
    self.logger = logger
  }

  /// Reads the file as it is after this call began. A file that is in force already changes
  /// nothing.
  ///
  /// - Parameter dryRun: only says what would be, and leaves no trace.
  package func reload(dryRun: Bool = false) async -> CatalogAttempt {
    await withCheckedContinuation { waiter in
      let isFirst = waiting.withLock { waiting in
        waiting[dryRun, default: []].append(waiter)
        return waiting[dryRun]?.count == 1
      }
      if isFirst { queue.async { self.answerWaiting(dryRun: dryRun) } }
    }
  }

  private func answerWaiting(dryRun: Bool) {
    // Taken before the file is read: who comes later may know of a change that this misses.
    let waiters = waiting.withLock { $0.removeValue(forKey: dryRun) ?? [] }
    let attempt = dryRun ? look().attempt : apply()
    for waiter in waiters { waiter.resume(returning: attempt) }
  }

  private func look() -> (attempt: CatalogAttempt, contents: CatalogFile.Contents?) {
    let at = clock.now()
    do throws(CatalogSource.Unreadable) {
      let reading = try source.read()
      switch reading.contents {
      case .success(let contents):
        return (
          CatalogAttempt(at: at, digest: reading.digest, issues: contents.warnings), contents
        )
      case .failure(let error):
        return (CatalogAttempt(at: at, digest: reading.digest, issues: error.issues), nil)
      }
    } catch {
      return (CatalogAttempt(at: at, digest: nil, failure: error.reason), nil)
    }
  }

  private func apply() -> CatalogAttempt {
    let (attempt, contents) = look()
    guard let contents, let digest = attempt.digest else {
      counters.add(.catalogReloadFailed)
      holder.record(attempt)
      log(faultOf: attempt)
      return attempt
    }
    counters.add(.catalogReloadValid)
    loggedFault.withLock { $0 = nil }
    let old = holder.snapshot.digest
    guard digest != old else {
      holder.record(attempt)
      logger.info("the catalog file is the one in force", metadata: ["digest": "\(digest)"])
      return attempt
    }
    holder.replace(with: contents.catalog, digest: digest, warnings: contents.warnings)
    // After that, so that nobody is told of a catalog that is not in force yet; and before the log,
    // which is where operators look first.
    holder.record(attempt)
    let size = contents.catalog.size
    logger.notice(
      "another catalog is in force",
      metadata: [
        "old_digest": "\(old)", "digest": "\(digest)", "apps": "\(size.apps)",
        "products": "\(size.products)", "entitlements": "\(size.entitlements)",
        "grandfathering_rules": "\(size.grandfatheringRules)",
      ])
    for warning in attempt.issues {
      logger.warning("catalog", metadata: ["issue": "\(warning)"])
    }
    return attempt
  }

  /// At error level once for each content: a broken file may be looked at many times.
  private func log(faultOf attempt: CatalogAttempt) {
    let fault = attempt.digest ?? attempt.failure ?? ""
    let isNew = loggedFault.withLock { logged in
      defer { logged = fault }
      return logged != fault
    }
    var metadata: Logger.Metadata = ["in_force": "\(holder.snapshot.digest)"]
    if let digest = attempt.digest { metadata["digest"] = "\(digest)" }
    metadata["reason"] = "\(attempt.failure ?? CatalogIssue.summary(of: attempt.issues))"
    logger.log(
      level: isNew ? .error : .info, "the catalog file cannot be used, the old one stays in force",
      metadata: metadata)
  }
}

extension CatalogIssue {
  /// What is told of a catalog that is wrong everywhere.
  private static var summaryLength: Int { 50 }

  /// Why a catalog cannot be used: its first errors, a sentence each, and how much more there is.
  static func summary(of issues: [CatalogIssue]) -> String {
    // Warnings may come first in the file, and would hide them.
    var sentences = issues.filter { $0.severity == .error }.prefix(summaryLength).map { "\($0)" }
    if issues.count > sentences.count {
      sentences.append("\(issues.count - sentences.count) more")
    }
    return sentences.joined(separator: "; ")
  }
}

extension Catalog {
  /// How many of each it has.
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
