import Foundation
import Glibc
package import MetricsExposition

/// The metrics of the process, under the names that all Prometheus clients use, from proc(5).
package enum ProcessMetrics {
  package static var families: [MetricFamily] {
    let values = values
    return MetricTable.process.compactMap { definition in
      values[definition.name].map { definition.family([MetricSample([], $0)]) }
    }
  }

  /// What cannot be read is absent.
  private static var values: [String: Double] {
    var values: [String: Double] = [:]
    // After the name of the program in parentheses, which may contain blanks: fields 3 and up.
    if let text = contents(of: "/proc/self/stat"), let end = text.lastIndex(of: ")") {
      let fields = text[end...].dropFirst().split(separator: " ").map { Double($0) ?? 0 }
      let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
      if fields.count > 21, ticks > 0 {
        values["process_cpu_seconds"] = (fields[11] + fields[12]) / ticks
        values["process_threads"] = fields[17]
        values["process_virtual_memory_bytes"] = fields[20]
        values["process_resident_memory_bytes"] = fields[21] * Double(sysconf(Int32(_SC_PAGESIZE)))
        values["process_start_time_seconds"] = bootTime.map { $0 + fields[19] / ticks }
      }
    }
    // One is open for the listing.
    values["process_open_fds"] =
      (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))
      .map { Double($0.count - 1) }
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      values["process_max_fds"] = Double(limit.rlim_cur)
    }
    return values
  }

  /// When the system started, in seconds since the epoch.
  private static let bootTime: Double? = contents(of: "/proc/stat")?
    .split(separator: "\n").first { $0.hasPrefix("btime ") }
    .flatMap { Double($0.dropFirst("btime ".count)) }

  private static func contents(of path: String) -> String? {
    FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
  }
}
