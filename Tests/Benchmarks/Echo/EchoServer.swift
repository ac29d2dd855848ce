import LoadClient

/// A server that answers 300 bytes to each frame and does nothing else, as a process of its own: the
/// cost of sockets and frames without a service behind them. It is killed when this is released.
///
/// Both programs listen on a free port of the loopback address, and print it as their first line.
final class EchoServer {
  enum Kind {
    /// The one in C, `BareEcho/main.c`. The targets are ratios to it.
    case bare
    /// ``EchoBenchmark``.
    case nio
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let name: String
  let port: UInt16
  private let program: Subprocess

  /// With which the data of each answer begins.
  static let firstByte = UInt8(ascii: "r")
  static let answerLength = 300

  /// Starts it, and waits until it listens.
  ///
  /// - Parameter processor: the only one that it may use.
  init(_ kind: Kind, on processor: Int) throws {
    let command: [String]
    switch kind {
    case .bare:
      name = "bare echo"
      command = [EntitledProcess.path(of: "bare-echo")]
    case .nio:
      name = "swift-nio echo"
      command = [EntitledProcess.path(of: "benchmark"), "echo"]
    }
    program = try ProcessorAffinity.with(processor) { try Subprocess(command) }
    guard let line = program.readLine(), let port = UInt16(line) else {
      throw Failure(description: "\(name) did not start")
    }
    self.port = port
  }

  /// User and system time, in microseconds.
  var processorTime: Double { ProcessorTime.used(by: program.identifier) }
}
