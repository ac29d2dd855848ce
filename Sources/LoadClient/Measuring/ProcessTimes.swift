import Glibc

/// What the system says of a process (proc(5), `/proc/PID/stat`).
package struct ProcessTimes {
  package let name: String
  package let parent: Int
  /// Microseconds of processor time: its own, and those of its children that ended.
  package let own: Double
  package let ended: Double

  /// Nil when there is no such process.
  package init?(_ identifier: Int) {
    guard let file = fopen("/proc/\(identifier)/stat", "r") else { return nil }
    defer { fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 1_024)
    let count = fread(&buffer, 1, buffer.count, file)
    let text = String(decoding: buffer[..<count], as: UTF8.self)
    // The name is in parentheses, and may hold some itself.
    guard let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")") else {
      return nil
    }
    name = String(text[text.index(after: open)..<close])
    let fields = text[text.index(after: close)...].split(separator: " ")
    guard fields.count > 14, let parent = Int(fields[1]) else { return nil }
    self.parent = parent
    let tick = 1e6 / Double(sysconf(Int32(_SC_CLK_TCK)))
    let times = fields[11...14].map { (Double($0) ?? 0) * tick }
    own = times[0] + times[1]
    ended = times[2] + times[3]
  }

  package static var all: [ProcessTimes] {
    guard let folder = opendir("/proc") else { return [] }
    defer { closedir(folder) }
    var processes: [ProcessTimes] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let identifier = Int(name), let process = ProcessTimes(identifier) {
        processes.append(process)
      }
    }
    return processes
  }
}
