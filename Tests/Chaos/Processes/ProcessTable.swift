import Foundation
import Glibc

/// Finds the processes of this run by their working directory: a killed database leaves children
/// that this program did not start.
enum ProcessTable {
  /// Every process whose working directory is the folder or below it.
  static func processes(in folder: String) -> [pid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }.filter { number in
      // Nil for processes that have ended meanwhile or belong to another user.
      let directory = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/\(number)/cwd")
      return directory.map { $0 == folder || $0.hasPrefix(folder + "/") } ?? false
    }
  }

  static func signal(_ number: CInt, in folder: String) {
    for process in processes(in: folder) where process != getpid() { _ = kill(process, number) }
  }

  /// Kills until no process is left, since one may start while others are killed.
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
