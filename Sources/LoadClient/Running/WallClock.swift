import EntitlementDomain
import Glibc
import NIOCore

/// Moments of day at the cost of the monotonic clock.
struct WallClock: Sendable {
  private let anchor = NIODeadline.now()
  private let anchorMilliseconds: Int64

  init() {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    anchorMilliseconds = Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }

  func moment(_ deadline: NIODeadline) -> Milliseconds {
    Milliseconds(anchorMilliseconds + (deadline - anchor).nanoseconds / 1_000_000)
  }
}
