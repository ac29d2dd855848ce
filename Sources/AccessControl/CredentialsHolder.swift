package import EntitlementDomain
import Synchronization
package import Wire

/// The credentials in force. Connections compare its generation at each read from their socket, and look
/// up their callers again when it has changed.
package final class CredentialsHolder: Sendable {
  package struct Snapshot: Sendable {
    package let credentials: Credentials
    /// SHA-256 of the file, hexadecimal.
    package let digest: String
    package let warnings: [FileIssue]
    package let inForceSince: Milliseconds
  }

  private struct State {
    var snapshot: Snapshot
    var lastAttempt: CredentialsAttempt?
    /// By the name of the caller, also of those that were removed: what a caller has used is not
    /// forgotten when it comes back. As many as files have named.
    var meters: [String: CallerMeter]
    var observers: [@Sendable () -> Void] = []
  }

  private let state: Mutex<State>
  private let currentGeneration = Atomic(1)
  private let clock: @Sendable () -> Milliseconds

  /// - Parameter clock: the time, for expiry.
  package init(
    _ contents: CredentialsFile.Contents, digest: String,
    clock: @escaping @Sendable () -> Milliseconds
  ) {
    self.clock = clock
    var meters: [String: CallerMeter] = [:]
    let credentials = Self.credentials(contents.callers, &meters)
    state = Mutex(
      State(
        snapshot: Snapshot(
          credentials: credentials, digest: digest, warnings: contents.warnings,
          inForceSince: clock()), meters: meters))
  }

  package var now: Milliseconds { clock() }

  /// Changes with the credentials.
  package var generation: Int { currentGeneration.load(ordering: .acquiring) }

  package var snapshot: Snapshot { state.withLock(\.snapshot) }

  /// What is in force, and the last attempt to replace it; nil before the first attempt.
  package var status: (snapshot: Snapshot, lastAttempt: CredentialsAttempt?) {
    state.withLock { ($0.snapshot, $0.lastAttempt) }
  }

  /// Puts other credentials in force. What they do not grant any more is refused when the call
  /// returns, except on connections that are handling frames at this moment; streams end soon after.
  package func replace(with contents: CredentialsFile.Contents, digest: String) {
    change { state in
      Snapshot(
        credentials: Self.credentials(contents.callers, &state.meters), digest: digest,
        warnings: contents.warnings, inForceSince: clock())
    }
  }

  /// Takes away what a file does not grant any more, and grants nothing new. The digest stays: the
  /// file is not in force.
  package func restrict(to contents: CredentialsFile.Contents) {
    change { state in
      // Its limits are those of the file that is not in force: the callers of the file get no meters.
      var meters: [String: CallerMeter] = [:]
      let snapshot = state.snapshot
      return Snapshot(
        credentials: snapshot.credentials.restricted(
          to: Self.credentials(contents.callers, &meters)),
        digest: snapshot.digest, warnings: snapshot.warnings, inForceSince: clock())
    }
  }

  private func change(_ next: (inout State) -> Snapshot) {
    let observers = state.withLock { state in
      state.snapshot = next(&state)
      currentGeneration.add(1, ordering: .releasing)
      return state.observers
    }
    for observer in observers { observer() }
  }

  /// Stores the outcome of an attempt to replace the credentials.
  package func record(_ attempt: CredentialsAttempt) {
    state.withLock { $0.lastAttempt = attempt }
  }

  /// Registers a function that is called after each replacement, on any thread.
  package func onReplacement(_ observer: @escaping @Sendable () -> Void) {
    state.withLock { $0.observers.append(observer) }
  }

  private static func credentials(
    _ callers: [CredentialsFile.Description], _ meters: inout [String: CallerMeter]
  ) -> Credentials {
    Credentials(
      callers.map { description in
        let meter = meters[description.name] ?? CallerMeter()
        meter.update(description.limits)
        meters[description.name] = meter
        return Credentials.Entry(
          caller: Caller(
            name: description.name, roles: description.roles,
            permissions: description.permissions, scopes: description.scopes, meter: meter),
          tokens: description.tokens, certificates: description.certificates,
          users: description.users)
      })
  }
}
