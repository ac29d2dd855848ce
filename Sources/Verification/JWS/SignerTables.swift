import Cryptography
import Dispatch
import Locks

/// Decides which signers get a table of their key's multiples: the few that sign nearly everything. Only
/// valid signatures count, so only the App Store can cause a table, and their number, size and rate
/// are bounded. A table is made on a thread of its own; until then, and without one, checks take the
/// ordinary way. Safe on any thread.
final class SignerTables: Sendable {
  private struct Holder {
    let signer: TrustedSigner
    /// ``TrustedSigner/verificationCount`` when a table was last made.
    var counted: Int
    /// Since then.
    var uses: Int { signer.verificationCount - counted }
  }

  private struct State {
    var holders: [Holder] = []
    var isMaking = false
    /// Whether this build of OpenSSL has no tables.
    var isUnavailable = false
    var lastMade: ContinuousClock.Instant?
  }

  private let state = LockedValue(State())
  private let queue = DispatchQueue(label: "entitle.verification.tables", qos: .utility)
  private let now: @Sendable () -> ContinuousClock.Instant

  init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    self.now = now
  }

  /// Counts a valid signature.
  func verified(by signer: TrustedSigner) {
    let count = signer.countVerification()
    guard count.isMultiple(of: VerificationLimits.verificationsForTable), !signer.key.hasTable
    else { return }
    let isTurn = state.withLock { state in
      guard !state.isMaking, !state.isUnavailable,
        state.lastMade.map({ now() - $0 >= VerificationLimits.tableInterval }) ?? true
      else { return false }
      state.isMaking = true
      return true
    }
    guard isTurn else { return }
    queue.async { self.make(for: signer) }
  }

  /// The signers that have a table, for tests.
  var signers: [TrustedSigner] { state.withLock { $0.holders.map(\.signer) } }

  /// Waits until the table that was begun is made, for tests. Blocks.
  func settle() { queue.sync {} }

  private func make(for signer: TrustedSigner) {
    let isMade = signer.key.makeTable()
    let dropped = state.withLock { state -> TrustedSigner? in
      state.isMaking = false
      state.lastMade = now()
      guard isMade else {
        state.isUnavailable = true
        return nil
      }
      var dropped: TrustedSigner?
      if state.holders.count == VerificationLimits.signerTables,
        let least = state.holders.indices.min(by: {
          state.holders[$0].uses < state.holders[$1].uses
        })
      {
        dropped = state.holders.remove(at: least).signer
      }
      for index in state.holders.indices {
        state.holders[index].counted += state.holders[index].uses
      }
      state.holders.append(Holder(signer: signer, counted: signer.verificationCount))
      return dropped
    }
    dropped?.key.dropTable()
  }
}
