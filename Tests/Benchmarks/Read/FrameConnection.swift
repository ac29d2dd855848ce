import Glibc
import NIOCore
import NIOSSL

/// One connection of the load generator: frames on a plain blocking socket, without the project's
/// client, so that its cost is small and the same for every server.
///
/// Used by one thread at a time.
final class FrameConnection {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let descriptor: CInt
  /// Nil without TLS.
  private var tls: FrameTLS?
  /// Received bytes that are not decrypted.
  private var encrypted: [UInt8] = []
  private let requests: FrameRequests
  private let firstByte: UInt8
  private let input: UnsafeMutableRawBufferPointer
  private let output: UnsafeMutableRawBufferPointer
  private let readLength: Int
  /// Received bytes of `input` that are not parsed.
  private var held = 0
  /// The data of the frame that was parsed last.
  private var lastFrame = 0..<0
  private var nextRequest: Int
  private var nextStream: UInt32 = 1
  /// The sum of the stream numbers that wait for answers.
  private var openStreams: UInt64 = 0
  private(set) var inFlight = 0

  private static let headerLength = 10
  private static let responseType: UInt8 = 2
  /// Room for many answers of one read. A longer answer is a failure.
  static let inputLength = 256 * 1_024
  /// In seconds. A server that answers nothing for this long has failed.
  private static let patience = 10

  /// - Parameters:
  /// - port: of the loopback address.
  /// - first: the index of the first request.
  /// - firstByte: the first byte of the data of each answer.
  /// - inFlight: the maximum number of requests in flight.
  /// - readLength: the maximum length of one read, more than the length of an answer.
  init(
    port: UInt16, tls context: NIOSSLContext?, requests: FrameRequests, first: Int,
    firstByte: UInt8, inFlight: Int, readLength: Int
  ) throws {
    descriptor = try Self.connect(to: port)
    tls = try context.map { [descriptor] in try FrameTLS($0, on: descriptor) }
    if tls != nil { encrypted = [UInt8](repeating: 0, count: Self.inputLength) }
    self.requests = requests
    self.firstByte = firstByte
    nextRequest = first % requests.count
    self.readLength = readLength
    input = .allocate(byteCount: Self.inputLength, alignment: 16)
    output = .allocate(byteCount: inFlight * requests.maximumLength, alignment: 16)
  }

  deinit {
    close(descriptor)
    input.deallocate()
    output.deallocate()
  }

  /// Sends this many requests with one write.
  func send(_ count: Int) throws {
    var length = 0
    for _ in 0..<count {
      length += requests.write(
        nextRequest, stream: nextStream,
        to: UnsafeMutableRawBufferPointer(rebasing: output[length...]))
      openStreams &+= UInt64(nextStream)
      nextStream &+= 2
      nextRequest = nextRequest + 1 == requests.count ? 0 : nextRequest + 1
    }
    inFlight += count
    if let tls {
      try FrameTLS.write(
        try tls.encrypt(UnsafeRawBufferPointer(rebasing: output[..<length])), to: descriptor)
      return
    }
    var written = 0
    while written < length {
      // The base address exists: more than 0 bytes are left.
      let step = write(descriptor, output.baseAddress! + written, length - written)
      if step < 0 && errno == EINTR { continue }
      guard step > 0 else { throw Failure(description: "the server has closed the connection") }
      written += step
    }
  }

  /// Waits for the next bytes.
  ///
  /// - Returns: the number of answers that the bytes completed.
  func receive() throws -> Int {
    if let tls { return try receive(through: tls) }
    // The base address exists: the buffer is never empty.
    let count = read(
      descriptor, input.baseAddress! + held, min(readLength, input.count - held))
    if count < 0 && errno == EINTR { return 0 }
    guard count > 0 else {
      let reason =
        held == input.count
        ? "an answer is too long"
        : count == 0
          ? "the server has closed the connection"
          : "no answer within \(Self.patience) seconds"
      throw Failure(description: reason)
    }
    held += count
    return try takeAnswers()
  }

  private func receive(through tls: FrameTLS) throws -> Int {
    let count = read(descriptor, &encrypted, readLength)
    if count < 0 && errno == EINTR { return 0 }
    guard count > 0 else {
      throw Failure(description: "the server has closed the connection, or does not answer")
    }
    let plain = try encrypted.withUnsafeBytes {
      try tls.decrypt(UnsafeRawBufferPointer(rebasing: $0[..<count]))
    }
    guard held + plain.readableBytes <= input.count else {
      throw Failure(description: "an answer is too long")
    }
    plain.withUnsafeReadableBytes {
      UnsafeMutableRawBufferPointer(rebasing: input[held...]).copyMemory(from: $0)
    }
    held += plain.readableBytes
    return try takeAnswers()
  }

  /// Frees the client's side of TLS. No further call can be made.
  func dropBuffers() {
    tls = nil
    encrypted = []
  }

  /// The data of the last answer. Only while no request is in flight.
  var lastAnswer: [UInt8] {
    precondition(inFlight == 0, "another answer may have replaced the bytes")
    return Array(input[lastFrame].dropFirst(Self.headerLength))
  }

  private func takeAnswers() throws -> Int {
    var start = 0
    var answers = 0
    while held - start >= Self.headerLength {
      let header = UnsafeRawBufferPointer(rebasing: input[start...])
      let length = Int(UInt32(bigEndian: header.loadUnaligned(as: UInt32.self)))
      let end = start + Self.headerLength + length
      guard end <= held else { break }
      guard header[8] == Self.responseType, length > 0, header[Self.headerLength] == firstByte
      else { throw Failure(description: "an answer is not the expected one") }
      let stream = UInt32(bigEndian: header.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
      openStreams &-= UInt64(stream)
      lastFrame = start..<end
      start = end
      answers += 1
    }
    inFlight -= answers
    guard inFlight > 0 || inFlight == 0 && openStreams == 0 else {
      throw Failure(description: "an answer is for a stream that is not open")
    }
    if start > 0 && start < held {
      // As above.
      memmove(input.baseAddress!, input.baseAddress! + start, held - start)
    }
    held -= start
    return answers
  }

  /// A blocking socket, connected to a port of the loopback address.
  static func connect(to port: UInt16) throws -> CInt {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var one: CInt = 1
    setsockopt(
      descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
    var patience = timeval(tv_sec: Self.patience, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let status = withUnsafeBytes(of: &address) { bytes in
      // A sockaddr_in is what connect(2) takes for AF_INET, and it is not empty.
      Glibc.connect(
        descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self),
        socklen_t(bytes.count))
    }
    guard descriptor >= 0, status == 0 else {
      close(descriptor)
      throw Failure(description: "no server listens on port \(port)")
    }
    return descriptor
  }
}
