import Glibc
import LoadClient
import PostgresBulkLoader

/// A server process that answers 300 bytes to each frame and does nothing else: the cost of sockets
/// and frames without a service. It is killed when this object is released.
///
/// Both programs listen on a free port of the loopback address, and print it as their first line.
final class EchoServer {
  enum Kind {
    /// The one in C, `BareEcho/main.c`. The targets are ratios to it.
    case bare
    /// ``EchoBenchmark``.
    case nio
    /// ``HTTPEchoCommand``.
    case http
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let name: String
  let port: UInt16
  private let program: Subprocess

  /// The first byte of the data of each answer.
  static let firstByte = UInt8(ascii: "r")
  static let answerLength = 300

  /// Starts it, and waits until it listens.
  ///
  /// - Parameter processor: the only processor that the server may use.
  init(_ kind: Kind, on processor: Int) throws {
    let command: [String]
    switch kind {
    case .bare:
      name = "bare echo"
      command = [EntitledProcess.path(of: "bare-echo")]
    case .nio:
      name = "swift-nio echo"
      command = [EntitledProcess.path(of: "benchmark"), "echo"]
    case .http:
      name = "swift-nio HTTP echo"
      command = [EntitledProcess.path(of: "benchmark"), "http-echo"]
    }
    program = try ProcessorAffinity.with(processor) { try Subprocess(command) }
    guard let line = program.readLine(), let port = UInt16(line) else {
      throw Failure(description: "\(name) did not start")
    }
    self.port = port
  }

  var process: pid_t { program.identifier }

  /// User and system time, in microseconds.
  var processorTime: Double { ProcessorTime.used(by: program.identifier) }
}
