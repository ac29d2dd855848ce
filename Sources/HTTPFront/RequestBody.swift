import NIOCore
import Synchronization
import Workers

/// The body of a request, as far as it has arrived.
struct RequestBody {
  /// Whose share of memory it takes; nil: no known caller's, so hardly anything of it is kept.
  private let source: WorkSource?
  private let limits: HTTPFrontLimits
  private let budget: BodyBudget
  private var reserved = 0
  private var length = 0
  /// What is kept of it.
  private(set) var bytes = ByteBuffer()

  /// - Parameter source: nil: no known caller sends it.
  init(of source: WorkSource?, _ limits: HTTPFrontLimits, _ budget: BodyBudget) {
    self.source = source
    self.limits = limits
    self.budget = budget
  }

  /// Whether bytes of it were dropped.
  var isWithheld: Bool { bytes.readableBytes < length }

  /// - Returns: why the request cannot be received; nil if it can.
  mutating func append(_ part: ByteBuffer) -> RequestProblem? {
    length += part.readableBytes
    guard length <= limits.body else { return .bodyTooLong(limit: limits.body) }
    guard let source else {
      guard length <= HTTPFrontLimits.unknownBody else { return .noCredential }
      if length <= HTTPFrontLimits.keptUnknownBody { bytes.writeImmutableBuffer(part) }
      return nil
    }
    let counted = max(0, length - limits.uncountedBody)
    if counted > reserved {
      guard budget.reserve(counted - reserved, of: source) else { return .noMemory }
      reserved = counted
    }
    // Copied: a slice would retain the whole receive buffer.
    bytes.writeImmutableBuffer(part)
    return nil
  }

  /// Gives its share back. Must be called once.
  func release() {
    if let source, reserved > 0 { budget.release(reserved, of: source) }
  }
}

/// The bytes of unfinished bodies of all connections, up to a limit. One caller does not keep the bodies of
/// others out (``SourceShares``).
final class BodyBudget: Sendable {
  private let shares: Mutex<SourceShares>

  init(capacity: Int) {
    shares = Mutex(SourceShares(limit: capacity))
  }

  /// - Returns: Whether the bytes are within the caller's share, and are counted until
  ///   ``release(_:of:)``.
  func reserve(_ count: Int, of source: WorkSource) -> Bool {
    shares.withLock { $0.admit(source, weight: count) }
  }

  func release(_ count: Int, of source: WorkSource) {
    shares.withLock { $0.ended(source, weight: count) }
  }

  var bytesInUse: Int { shares.withLock(\.pending) }
}
