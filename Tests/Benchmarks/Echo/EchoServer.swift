import Glibc
import LoadClient

/// A server that answers 300 bytes to each frame and does nothing else, as a process of its own: what
/// sockets and frames cost without a service behind them. It is killed when nobody holds this any
/// more.
final class EchoServer {
  enum Kind {
    /// A program that takes a port.
    case bare(String)
    /// ``EchoBenchmark``.
    case nio
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let name: String
  /// Whether it is what the targets are to.
  let isBare: Bool
  let port: UInt16
  private let program: Subprocess

  /// With which the data of each answer begins.
  static let firstByte = UInt8(ascii: "r")
  static let answerLength = 300

  private static let patience = Duration.seconds(10)
  private static let interval = Duration.milliseconds(5)

  /// Starts it, and waits until it listens.
  ///
  /// - Parameter processor: the only one that it may use.
  init(_ kind: Kind, on processor: Int) async throws {
    port = try Self.freePort()
    let command: [String]
    switch kind {
    case .bare(let path):
      (name, isBare) = ("bare echo", true)
      command = [path, String(port)]
    case .nio:
      (name, isBare) = ("swift-nio echo", false)
      command = [EntitledProcess.path(of: "benchmark"), "echo", String(port)]
    }
    program = try ProcessorAffinity.with(processor) { try Subprocess(command) }
    let deadline = ContinuousClock.now + Self.patience
    while !Self.isListening(port) {
      guard ContinuousClock.now < deadline, !program.hasEnded else {
        throw Failure(description: "\(name) did not start")
      }
      try await Task.sleep(for: Self.interval)
    }
  }

  /// User and system time, in microseconds.
  var processorTime: Double { ProcessorTime.used(by: program.identifier) }

  /// One that nobody listens on at this moment.
  private static func freePort() throws -> UInt16 {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutableBytes(of: &address) { bytes in
      // A sockaddr_in is what these calls take for AF_INET, and it is not empty.
      let pointer = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
      return bind(descriptor, pointer, length) == 0
        && getsockname(descriptor, pointer, &length) == 0
    }
    guard status else { throw Failure(description: "there is no free port") }
    return UInt16(bigEndian: address.sin_port)
  }

  private static func isListening(_ port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(port: port)
    return withUnsafeMutableBytes(of: &address) { bytes in
      // As above.
      connect(
        descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self),
        socklen_t(bytes.count)) == 0
    }
  }

  private static func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    return address
  }
}
