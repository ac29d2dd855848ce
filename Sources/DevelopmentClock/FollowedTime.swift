package import EntitlementDomain

/// The virtual time, computed from the latest reading and the time since. It never goes back. No
/// clock and no I/O: the uptime is passed, in nanoseconds of a monotonic clock.
package struct FollowedTime: Sendable {
  private var reading: ClockReading
  private var readAt: Int64
  /// The time when the reading was taken. A reading before it lets time stand still.
  private var floor: Milliseconds

  package init(_ reading: ClockReading, at uptime: Int64) {
    self.reading = reading
    readAt = uptime
    floor = reading.now
  }

  package var revision: Int { reading.revision }

  /// The time; with the latest speed if the latest reading is old.
  package func now(at uptime: Int64) -> Milliseconds {
    max(floor, computed(at: uptime))
  }

  /// How much the simulator's time is behind this one, which then stands still.
  package func lead(at uptime: Int64) -> Int64 {
    max(0, floor.rawValue - computed(at: uptime).rawValue)
  }

  /// Continues from a new reading.
  package mutating func follow(_ reading: ClockReading, at uptime: Int64) {
    floor = now(at: uptime)
    self.reading = reading
    readAt = uptime
  }

  private func computed(at uptime: Int64) -> Milliseconds {
    let elapsed = Double(max(0, uptime - readAt)) / 1_000_000
    // Bounded, so that the conversion cannot trap: see ``ClockReading/range``.
    let passed = Int64(min(elapsed * reading.speed, 1e13))
    return min(reading.now.advanced(by: passed), ClockReading.range.upperBound)
  }
}
