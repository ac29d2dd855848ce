import Framing
import Logging
import NIOCore
import RPCServer
import Synchronization

/// The rates of a listener that everyone may reach. Only what costs something counts, and what names a
/// signer that is known has rates of its own: nothing that others send turns these away.
package struct WebhookLimits: Hashable, Sendable {
  /// A rate over all connections, and one for each client.
  package struct Rate: Hashable, Sendable {
    package var inAll: Int
    package var ofClient: Int

    package init(inAll: Int, ofClient: Int) {
      self.inAll = inAll
      self.ofClient = ofClient
    }
  }

  /// Bytes of bodies a second, without those that name a known signer: a thousand notifications of common
  /// size.
  package var bytes: Rate

  /// Notifications a second of unknown signers that cost the validation of certificates and fail, or are of
  /// another app or environment. One costs up to a millisecond of a core, and the App Store sends none.
  package var strangers: Rate

  /// Those that name a known signer and are not taken, for whatever reason. One costs the check of a
  /// signature, 0.1 ms. Anybody can copy the certificates of the App Store.
  package var knownSigners: Rate

  /// Clients whose rates are kept. Those of more are together.
  package var clients: Int

  /// When the App Store, which repeats for days, or a test may try again.
  static let retryDelay = Duration.seconds(60)

  /// What a failed verification costs its connection, of ``HTTPFrontLimits/refusedRequests``.
  static let failurePenalty = 2

  /// The longest body that may come first for its signer. Longer ones count as those of strangers, whatever
  /// they name: reading them costs more. Nearly all notifications have 25 kB.
  static let usualLength = 65_536

  /// Maximum number of values in the JSON of a body. One of version 2 has one; one of version 1 may have
  /// thousands, and is answered with what to choose.
  static let values = 16_384

  package init(
    bytes: Rate = Rate(inAll: 33_554_432, ofClient: 8_388_608),
    strangers: Rate = Rate(inAll: 200, ofClient: 20),
    knownSigners: Rate = Rate(inAll: 2_000, ofClient: 1_000), clients: Int = 4_096
  ) {
    self.bytes = bytes
    self.strangers = strangers
    self.knownSigners = knownSigners
    self.clients = clients
  }
}

/// What is left of ``WebhookLimits``.
final class WebhookBudget: Sendable {
  /// Who posted a notification, and what it says of its signer.
  struct Post: Hashable, Sendable {
    /// Nil: not known.
    let client: ClientAddress?
    /// Whether it names a signer that has signed something before: it comes first.
    let isOfKnownSigner: Bool
    let length: Int
  }

  private struct State {
    var bytes: ClientRates
    var strangers: ClientRates
    var knownSigners: ClientRates
  }

  private let state: Mutex<State>
  private let log = ShortageLog()
  private let logger: Logger

  init(_ limits: WebhookLimits, logger: Logger) {
    self.logger = logger
    state = Mutex(
      State(
        bytes: ClientRates(limits.bytes, clients: limits.clients),
        strangers: ClientRates(limits.strangers, clients: limits.clients),
        knownSigners: ClientRates(limits.knownSigners, clients: limits.clients)))
  }

  /// Whether a notification may be verified now. Counts its bytes.
  func admits(_ post: Post, now: NIODeadline) -> Bool {
    let rate: String? = state.withLock { state in
      if post.isOfKnownSigner {
        return state.knownSigners.admits(post.client, now: now) ? nil : "forged signatures"
      }
      guard state.strangers.admits(post.client, now: now) else { return "failed verifications" }
      guard state.bytes.admits(post.client, now: now) else { return "bytes" }
      state.bytes.charge(post.length, to: post.client, now: now)
      return nil
    }
    guard let rate else { return true }
    if log.isDue(now: now) {
      logger.warning(
        "notifications of the App Store are put off: the rate of the listener is reached",
        metadata: ["rate": "\(rate)"])
    }
    return false
  }

  /// Its verification has cost something, and it is not taken.
  func failed(_ post: Post, now: NIODeadline) {
    state.withLock { state in
      if post.isOfKnownSigner {
        state.knownSigners.charge(1, to: post.client, now: now)
      } else {
        state.strangers.charge(1, to: post.client, now: now)
      }
    }
  }
}

/// A token bucket for all, and one for each client that has used it.
struct ClientRates {
  private let rate: WebhookLimits.Rate
  private let limit: Int
  private var all: TokenBucket
  /// By network. Those that are full again are dropped when there are too many.
  private var clients: [[UInt8]: TokenBucket] = [:]
  /// Of clients without a bucket of their own, when there are too many.
  private var others: TokenBucket

  init(_ rate: WebhookLimits.Rate, clients limit: Int) {
    self.rate = rate
    self.limit = limit
    all = TokenBucket(tokensPerSecond: rate.inAll)
    others = TokenBucket(tokensPerSecond: rate.ofClient)
  }

  func admits(_ client: ClientAddress?, now: NIODeadline) -> Bool {
    guard all.nextToken(now: now) == nil else { return false }
    guard let network = client?.network else { return others.nextToken(now: now) == nil }
    if let bucket = clients[network] { return bucket.nextToken(now: now) == nil }
    return clients.count < limit || others.nextToken(now: now) == nil
  }

  mutating func charge(_ count: Int, to client: ClientAddress?, now: NIODeadline) {
    all.take(count, now: now)
    guard let network = client?.network, hasRoom(for: network, now: now) else {
      others.take(count, now: now)
      return
    }
    clients[network, default: TokenBucket(tokensPerSecond: rate.ofClient)].take(count, now: now)
  }

  private mutating func hasRoom(for network: [UInt8], now: NIODeadline) -> Bool {
    if clients.count < limit || clients[network] != nil { return true }
    clients = clients.filter { !$0.value.isFull(now: now) }
    return clients.count < limit
  }
}
