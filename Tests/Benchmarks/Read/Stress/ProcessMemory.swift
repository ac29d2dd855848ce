import Foundation

/// The memory of processes of this machine.
enum ProcessMemory {
  /// Anonymous resident memory in bytes (proc(5), `RssAnon`); 0 when there is no such process.
  static func own(of process: pid_t) -> Int {
    let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    return line.flatMap { Int($0.split(whereSeparator: \.isWhitespace)[1]) }.map { $0 * 1_024 } ?? 0
  }
}
