import Glibc

/// What this process has used of the processors.
enum OwnProcessorTime {
  /// User and system time.
  static var microseconds: Double {
    var usage = rusage()
    guard getrusage(RUSAGE_SELF.rawValue, &usage) == 0 else { return 0 }
    return [usage.ru_utime, usage.ru_stime].reduce(0) {
      $0 + Double($1.tv_sec) * 1e6 + Double($1.tv_usec)
    }
  }
}
