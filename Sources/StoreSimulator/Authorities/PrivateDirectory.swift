import Glibc

/// A directory for private keys. Its files are created so that only their owner can read them.
struct PrivateDirectory {
  let path: String

  /// In bytes. Far above any key or certificate; the limit keeps a wrong file from filling the
  /// memory.
  private static let maximumFileSize = 1 << 20

  /// Creates the directory and its parents, unless they exist.
  func create() throws(SimulatorError) {
    var partial = path.hasPrefix("/") ? "/" : ""
    for part in path.split(separator: "/") {
      partial += partial.isEmpty || partial.hasSuffix("/") ? String(part) : "/\(part)"
      if mkdir(partial, 0o700) != 0, errno != EEXIST {
        throw failure("the directory \(partial) cannot be created")
      }
    }
  }

  /// Runs `body` with an exclusive lock on the directory, which must exist.
  func withExclusiveLock<Result>(
    _ body: () throws(SimulatorError) -> Result
  ) throws(SimulatorError) -> Result {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("\(path) cannot be opened") }
    // Closing the descriptor releases the lock.
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw failure("\(path) cannot be locked") }
    }
    return try body()
  }

  func hasFile(_ name: String) throws(SimulatorError) -> Bool {
    if access(location(of: name), F_OK) == 0 { return true }
    if errno == ENOENT || errno == ENOTDIR { return false }
    throw failure("\(location(of: name)) cannot be checked")
  }

  /// - Throws: ``SimulatorError/Code/file``, also when the file exists: two programs that create an
  ///   authority at the same time must not mix their files.
  func write(_ contents: [UInt8], toNewFile name: String) throws(SimulatorError) {
    let descriptor = open(
      location(of: name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(0o600))
    guard descriptor >= 0 else { throw failure("\(location(of: name)) cannot be created") }
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
