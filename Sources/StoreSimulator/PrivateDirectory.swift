import Glibc

/// A directory whose files only their owner can read, from the moment they exist.
struct PrivateDirectory {
  let path: String

  /// Far above any key or certificate; keeps a wrong file from filling the memory. In bytes.
  private static let maximumFileSize = 1 << 20

  /// Makes the directory and those above it, unless they exist.
  func create() throws(SimulatorError) {
    var partial = path.hasPrefix("/") ? "/" : ""
    for part in path.split(separator: "/") {
      partial += partial.isEmpty || partial.hasSuffix("/") ? String(part) : "/\(part)"
      if mkdir(partial, 0o700) != 0, errno != EEXIST {
        throw failure("the directory \(partial) cannot be made")
      }
    }
  }

  /// Runs `body` while no other program does the same in this directory, which must exist.
  func exclusively<Result>(
    _ body: () throws(SimulatorError) -> Result
  ) throws(SimulatorError) -> Result {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("\(path) cannot be opened") }
    // Closing it gives up the lock too.
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw failure("\(path) cannot be locked") }
    }
    return try body()
  }

  func hasFile(_ name: String) throws(SimulatorError) -> Bool {
    if access(location(of: name), F_OK) == 0 { return true }
    if errno == ENOENT || errno == ENOTDIR { return false }
    throw failure("\(location(of: name)) cannot be looked at")
  }

  /// - Throws: ``SimulatorError/Code/file``, also when the file exists: two programs that make an
  ///   authority at once must not mix theirs.
  func write(_ contents: [UInt8], toNewFile name: String) throws(SimulatorError) {
    let descriptor = open(
      location(of: name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(0o600))
    guard descriptor >= 0 else { throw failure("\(location(of: name)) cannot be made") }
    defer { close(descriptor) }
    var written = 0
    while written < contents.count {
      let count = contents[written...].withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure("\(location(of: name)) cannot be written") }
      written += count
    }
  }

  func read(_ name: String) throws(SimulatorError) -> [UInt8] {
    let descriptor = open(location(of: name), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("\(location(of: name)) cannot be opened") }
    defer { close(descriptor) }
    var contents: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("\(location(of: name)) cannot be read") }
      if count == 0 { return contents }
      contents += chunk[..<count]
      guard contents.count <= Self.maximumFileSize else {
        throw SimulatorError(.file, "\(location(of: name)) is too large for a PEM file")
      }
    }
  }

  private func location(of name: String) -> String { "\(path)/\(name)" }

  private func failure(_ message: String) -> SimulatorError {
    let code = errno
    return SimulatorError(.file, "\(message): \(String(cString: strerror(code)))")
  }
}
