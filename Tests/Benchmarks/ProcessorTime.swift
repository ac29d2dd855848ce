import Glibc

/// The processor time that this process has used, by all of its threads.
enum ProcessorTime {
  /// In microseconds.
  static var used: Double {
    var time = timespec()
    // It fails only for a clock that the system lacks, and Linux has this one.
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
  }
}
