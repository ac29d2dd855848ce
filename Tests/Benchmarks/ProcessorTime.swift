import Glibc

/// The processor time of a process, of all its threads including ended ones.
enum ProcessorTime {
  /// The time of this process, in microseconds.
  static var used: Double { time(CLOCK_PROCESS_CPUTIME_ID) }

  /// The time of another process of this machine, in microseconds with a resolution of nanoseconds;
  /// 0 if there is no such process.
  static func used(by process: pid_t) -> Double {
    var clock = clockid_t()
    guard clock_getcpuclockid(process, &clock) == 0 else { return 0 }
    return time(clock)
  }

  private static func time(_ clock: clockid_t) -> Double {
    var time = timespec()
    // It fails only for a clock that the system lacks, or for a process that has just ended.
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
  }
}
