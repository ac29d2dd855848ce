import EntitlementDomain
import Foundation
import Verification

extension Milliseconds {
  /// The system's clock: OpenSSL's program dates its answers by it.
  static var systemNow: Milliseconds {
    Milliseconds(Int64(Date().timeIntervalSince1970 * 1_000))
  }

  func adding(minutes: Int64) -> Milliseconds { adding(seconds: 60 * minutes) }

  func adding(seconds: Int64) -> Milliseconds { Milliseconds(rawValue + 1_000 * seconds) }
}

/// What became of a payload, for tables.
enum Passing: Hashable {
  case passes
  case refused(Verdict)

  init(_ refusal: Refusal?) {
    self = refusal.map { .refused($0.verdict) } ?? .passes
  }
}
