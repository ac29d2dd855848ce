import Glibc

/// One connection of the load: requests of HTTP/1.1 on a plain blocking socket, one after the other, so that
/// its cost is small and the same for every server. Used by one thread.
final class HTTPConnection {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let descriptor: CInt
  private var input = [UInt8](repeating: 0, count: 64 * 1_024)
  private var held = 0
  private static let success = Array("HTTP/1.1 200 ".utf8)
  /// In the lower case of ASCII, which also changes the line break.
  private static let length = Array("\r\ncontent-length: ".utf8).map { $0 | 0x20 }
  private static let headEnd = Array("\r\n\r\n".utf8)

  /// - Parameter port: of the loopback address.
  init(port: UInt16) throws {
    descriptor = try FrameConnection.connect(to: port)
  }

  deinit {
    close(descriptor)
  }

  func send(_ request: [UInt8]) throws {
    var written = 0
    while written < request.count {
      let step = request.withUnsafeBytes {
        // The base address exists: more than 0 bytes are left.
        write(descriptor, $0.baseAddress! + written, request.count - written)
      }
      if step < 0 && errno == EINTR { continue }
      guard step > 0 else { throw Failure(description: "the server has closed the connection") }
      written += step
    }
  }

  /// Waits for the next bytes.
  ///
  /// - Returns: the body, when it is complete.
  /// - Throws: ``Failure`` unless the status is 200.
  func receive() throws -> ArraySlice<UInt8>? {
    guard held < input.count else { throw Failure(description: "an answer is too long") }
    let count = input.withUnsafeMutableBytes {
      // As above: the buffer is not full.
      read(descriptor, $0.baseAddress! + held, $0.count - held)
    }
    if count < 0 && errno == EINTR { return nil }
    guard count > 0 else {
      throw Failure(description: "the server has closed the connection, or does not answer")
    }
    held += count
    guard let head = input[..<held].firstRange(of: Self.headEnd) else { return nil }
    guard input.starts(with: Self.success) else {
      throw Failure(description: String(decoding: input[..<held], as: UTF8.self))
    }
    let fields = input[..<head.upperBound].map { $0 | 0x20 }
    guard let field = fields.firstRange(of: Self.length) else {
      throw Failure(description: "an answer has no length")
    }
    let digits = input[field.upperBound...].prefix { $0 != UInt8(ascii: "\r") }
    let end = head.upperBound + (Int(String(decoding: digits, as: UTF8.self)) ?? 0)
    guard held >= end else { return nil }
    held = 0
    return input[head.upperBound..<end]
  }
}
