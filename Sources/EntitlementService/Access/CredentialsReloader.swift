package import AccessControl
import Cryptography
import Dispatch
import EntitlementDomain
package import EntitlementStore
package import Logging
import Synchronization
package import Wire

/// The bytes of the file of credentials.
package struct CredentialsSource: Sendable {
  /// The file cannot be used. The reason is one sentence for people.
  package struct Unreadable: Error, Sendable {
    package let reason: String

    package init(_ reason: String) {
      self.reason = reason
    }
  }

  /// A file that was read and parsed.
  package struct Reading: Sendable {
    /// SHA-256 of the file, hexadecimal.
    package let digest: String
    package let contents: Result<CredentialsFile.Contents, CredentialsFile.Invalid>
  }

  private let bytes: @Sendable () throws(Unreadable) -> [UInt8]
  private let user: @Sendable (String) -> UInt32?

  /// - Parameters:
  ///   - user: the number of a Unix user with this name.
  ///   - bytes: the current bytes of the file, at most one more than
  ///     ``CredentialsFile/maximumBytes``. May block.
  package init(
    user: @escaping @Sendable (String) -> UInt32?,
    bytes: @escaping @Sendable () throws(Unreadable) -> [UInt8]
  ) {
    self.user = user
    self.bytes = bytes
  }

  /// Reads and parses the file. Blocks meanwhile.
  ///
  /// - Throws: ``Unreadable`` for a file that cannot be read, is too large or is not UTF-8. A file
  ///   with errors is a failure in ``Reading/contents``.
  package func read() throws(Unreadable) -> Reading {
    let bytes = try bytes()
    guard bytes.count <= CredentialsFile.maximumBytes else {
      throw Unreadable("it is larger than \(CredentialsFile.maximumBytes) bytes")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Unreadable("it is not UTF-8")
    }
    guard let digest = try? SHA256.digest(of: bytes) else {
      throw Unreadable("its digest cannot be computed")
    }
    let contents = Result { () throws(CredentialsFile.Invalid) in
      try CredentialsFile.parse(text, user: user)
    }
    return Reading(digest: digest.hexadecimal, contents: contents)
  }
}

/// Reads the file of credentials again and puts it in force when it is valid. Otherwise the old
/// credentials stay in force.
///
/// Reloads run one after the other on a dispatch queue, as ``CatalogReloader`` does.
package final class CredentialsReloader: Sendable {
  private let source: CredentialsSource
  private let holder: CredentialsHolder
  private let audit: BlockingAudit
  private let logger: Logger
  private let queue = DispatchQueue(label: "entitle.credentials")
  private let state = Mutex(State())

  private struct State {
    var reloads = 0
    var failures = 0
    /// Why the file on the disk is not in force; nil if it is.
    var fault: String?
  }

  /// - Parameter record: writes an entry of the audit trail (R76).
  package init(
    source: CredentialsSource, holder: CredentialsHolder, logger: Logger,
    record: @escaping @Sendable (AuditCall) async throws(StoreError) -> Void
  ) {
    self.source = source
    self.holder = holder
    self.logger = logger
    audit = BlockingAudit(record)
  }

  /// What is in force, and the last attempt to replace it.
  package var status: (snapshot: CredentialsHolder.Snapshot, lastAttempt: CredentialsAttempt?) {
    holder.status
  }

  /// Reads the file after the call began. A file that is already in force changes nothing. Another
  /// one is in the audit trail before it is in force (R76). If the trail cannot be written, what the
  /// file takes away is gone at once, and what it grants waits.
  ///
  /// - Parameter dryRun: checks the file and changes nothing.
  /// - Returns: the outcome, and whether the same file may be in force after another attempt.
  package func reload(
    dryRun: Bool = false, by origin: ReloadOrigin = .server
  ) async -> (attempt: CredentialsAttempt, isTransient: Bool) {
    await withCheckedContinuation { continuation in
      queue.async {
        if dryRun {
          continuation.resume(returning: (self.readFile().attempt, false))
        } else {
          continuation.resume(returning: self.apply(by: origin))
        }
      }
    }
  }

  private func readFile() -> (attempt: CredentialsAttempt, contents: CredentialsFile.Contents?) {
    let at = holder.now
    do throws(CredentialsSource.Unreadable) {
      let reading = try source.read()
      switch reading.contents {
      case .success(let contents):
        return (
          CredentialsAttempt(
            at: at, isValid: true, digest: reading.digest, issues: contents.warnings), contents
        )
      case .failure(let error):
        return (
          CredentialsAttempt(at: at, isValid: false, digest: reading.digest, issues: error.issues),
          nil
        )
      }
    } catch {
      return (CredentialsAttempt(at: at, isValid: false, failure: error.reason), nil)
    }
  }

  private func apply(by origin: ReloadOrigin) -> (CredentialsAttempt, isTransient: Bool) {
    var (attempt, contents) = readFile()
    guard let contents, let digest = attempt.digest else {
      failed(attempt)
      return (attempt, false)
    }
    let old = holder.snapshot.digest
    guard digest != old || users(of: contents) != users else {
      succeeded(attempt)
      logger.info("the credentials are already in force", metadata: ["digest": "\(digest)"])
      return (attempt, false)
    }
    let call = AuditCall(
      method: WireMethods.reloadCredentials.name, caller: origin.caller,
      onBehalfOf: origin.onBehalfOf, subject: digest,
      at: attempt.at)
    if let failure = audit.write(call) {
      holder.restrict(to: contents)
      attempt.isValid = false
      attempt.failure =
        "the audit trail cannot be written: \(failure.message); what the file takes away is gone, and "
        + "what it grants waits"
      failed(attempt)
      return (attempt, true)
    }
    holder.replace(with: contents, digest: digest)
    succeeded(attempt)
    logger.notice(
      "other credentials are in force",
      metadata: [
        "old_digest": "\(old)", "digest": "\(digest)",
        "callers": .stringConvertible(contents.callers.count),
      ])
    for warning in warnings {
      logger.warning("configuration", metadata: ["issue": "\(warning)"])
    }
    return (attempt, false)
  }

  /// The Unix users of the callers in force. Names are looked up each time that the file is read.
  private var users: [String: [UInt32]] {
    Dictionary(
      uniqueKeysWithValues: holder.snapshot.credentials.entries.map { ($0.caller.name, $0.users) })
  }

  private func users(of contents: CredentialsFile.Contents) -> [String: [UInt32]] {
    Dictionary(uniqueKeysWithValues: contents.callers.map { ($0.name, $0.users) })
  }

  private func succeeded(_ attempt: CredentialsAttempt) {
    holder.record(attempt)
    state.withLock { state in
      state.reloads += 1
      state.fault = nil
    }
  }

  private func failed(_ attempt: CredentialsAttempt) {
    holder.record(attempt)
    let reason = attempt.failure ?? FileIssue.summary(of: attempt.issues)
    let isNew = state.withLock { state in
      state.failures += 1
      defer { state.fault = reason }
      return state.fault != reason
    }
    // Once at error level, as the same broken file may be read many times.
    logger.log(
      level: isNew ? .error : .info,
      "the file of credentials cannot be used, the old one stays in force",
      metadata: ["reason": "\(reason)", "in_force": "\(holder.snapshot.digest)"])
  }

  /// What operators must do, a sentence each.
  package var warnings: [String] {
    let fault = state.withLock(\.fault)
    return
      (fault.map { ["credentials: the file cannot be used; the old one stays in force: \($0)"] }
      ?? []) + holder.snapshot.warnings.map { "credentials: \($0)" }
      + holder.snapshot.credentials.warnings(now: holder.now)
  }

  package var values: [StatisticValue] {
    let state = state.withLock { $0 }
    let (snapshot, attempt) = holder.status
    let expiries = snapshot.credentials.entries.compactMap { entry in
      entry.lastTokenExpiry.map {
        StatisticValue("access.expires_seconds", $0.rawValue / 1_000, of: entry.caller.name)
      }
    }
    return [
      StatisticValue("access.callers", snapshot.credentials.entries.count),
      StatisticValue("access.reloads", state.reloads),
      StatisticValue("access.reload_failures", state.failures),
      StatisticValue("access.in_force_since_seconds", snapshot.inForceSince.rawValue / 1_000),
      // The file that was read at the start was valid.
      StatisticValue("access.last_reload_valid", attempt?.isValid ?? true ? 1 : 0),
      StatisticValue(
        "access.last_reload_seconds", (attempt?.at ?? snapshot.inForceSince).rawValue / 1_000),
    ] + expiries
  }
}
