import Foundation
import Glibc

/// Finds the processes of this run by their working directory: a killed database leaves children
/// behind that no list of ours has.
enum ProcessTable {
  /// Every process that works in the folder or below it.
  static func processes(in folder: String) -> [pid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }.filter { number in
      // Nil for those that have ended meanwhile, or that are not ours to look at.
      let directory = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/\(number)/cwd")
      return directory.map { $0 == folder || $0.hasPrefix(folder + "/") } ?? false
    }
  }

  static func signal(_ number: CInt, in folder: String) {
    for process in processes(in: folder) where process != getpid() { _ = kill(process, number) }
  }

  /// Kills until nobody is left, as one may be born while the others die.
  static func killAll(in folder: String) async {
    let deadline = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < deadline {
      let left = processes(in: folder).filter { $0 != getpid() }
      if left.isEmpty { return }
      for process in left { _ = kill(process, SIGKILL) }
      try? await Task.sleep(for: .milliseconds(5))
    }
  }
}
