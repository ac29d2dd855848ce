import Glibc

/// The limit of open files for this process and the processes that it starts.
enum OpenFiles {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Raises the limit as far as the system allows.
  ///
  /// - Throws: ``Failure`` when the limit stays too low.
  static func allow(_ count: Int) throws(Failure) {
    var limit = rlimit()
    let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    getrlimit(files, &limit)
    limit.rlim_cur = limit.rlim_max
    guard limit.rlim_max >= rlim_t(count), setrlimit(files, &limit) == 0 else {
      throw Failure(
        description: "\(count) open files are needed, and \(limit.rlim_max) are allowed: "
          + "raise the hard limit (ulimit -Hn)")
    }
  }
}
