import Cryptography
package import NIOCore
import Synchronization

/// The token that shows a server who calls: it is sent with each call, as `authorization: Bearer …`.
///
/// A token that stands in a file is read when a call first needs it, and again when the file has
/// changed: a client that runs for long follows a token that is renewed. The file is looked at
/// about once a second, and at once after a call was refused as UNAUTHENTICATED.
///
/// Anybody who reads the connection can use the token: send it over TLS, a Unix socket or the
/// loopback interface alone.
public final class ClientToken: Sendable {
  /// The file of the token; nil for one without a file.
  public let file: String?

  /// The longest file that is read, in bytes. A token has about 60.
  private static let maximumBytes = 4_096
  /// The time between two looks at the file.
  private static let lookInterval = TimeAmount.seconds(1)
  /// The shortest time between two looks at the file, however many calls are refused.
  private static let shortestInterval = TimeAmount.milliseconds(100)

  private struct State {
    /// Empty: not read yet.
    var metadata: [(key: String, value: String)] = []
    /// Nil: the file is read at the next look, whether it has changed or not.
    var version: FileVersion?
    var lastLook = NIODeadline.uptimeNanoseconds(0)
    var nextLook = NIODeadline.uptimeNanoseconds(0)
    /// Whether the file can be read once only, such as a pipe.
    var isSpent = false
  }

  private let clock: @Sendable () -> NIODeadline
  private let state: Mutex<State>

  /// A token that does not change.
  ///
  /// - Throws: ``RPCClientError`` with `unauthenticated` for a text that is no token.
  public init(_ value: String) throws(RPCClientError) {
    file = nil
    clock = NIODeadline.now
    state = Mutex(State(metadata: try Self.metadata(value, of: "the token")))
  }

  /// A token in a file, which is read later. White space around it does not count. Users other than
  /// its owner must not be able to read the file.
  public convenience init(file: String) {
    self.init(file: file, clock: NIODeadline.now)
  }

  package init(file: String, clock: @escaping @Sendable () -> NIODeadline) {
    self.file = file
    self.clock = clock
    state = Mutex(State())
  }

  /// Reads the file, if that was not done yet.
  ///
  /// - Throws: ``RPCClientError`` with `unauthenticated` and the reason, never with the token.
  public func check() throws(RPCClientError) {
    _ = try metadata()
  }

  /// What is sent with a call. A file that cannot be read any more leaves the token that was read
  /// before.
  package func metadata() throws(RPCClientError) -> [(key: String, value: String)] {
    guard let file else { return state.withLock(\.metadata) }
    let now = clock()
    let result = state.withLock { state -> Result<[(key: String, value: String)], RPCClientError> in
      guard now >= state.nextLook, !state.isSpent else { return .success(state.metadata) }
      do throws(RPCClientError) {
        try Self.look(at: file, &state)
      } catch {
        if state.metadata.isEmpty { return .failure(error) }
      }
      state.lastLook = now
      state.nextLook = now + Self.lookInterval
      return .success(state.metadata)
    }
    return try result.get()
  }

  /// A server refused the token. The next call reads the file.
  package func refused() {
    guard file != nil else { return }
    state.withLock { state in
      state.version = nil
      state.nextLook = min(state.nextLook, state.lastLook + Self.shortestInterval)
    }
  }

  private static func look(at path: String, _ state: inout State) throws(RPCClientError) {
    if let version = state.version, FileVersion(path) == version { return }
    let file: SecretFile
    do throws(SecretFile.Fault) {
      file = try SecretFile(reading: path, maximumBytes: maximumBytes, mayBePipe: true)
    } catch {
      switch error {
      case .unreadable, .notRegular: throw failure("\(path): the token cannot be read")
      case .readableByOthers:
        throw failure("\(path): other users may read the token (chmod 600)")
      case .tooLong: throw failure("\(path): no token, as it has more than \(maximumBytes) bytes")
      }
    }
    state.metadata = try metadata(String(decoding: file.bytes, as: UTF8.self), of: path)
    state.version = file.version
    state.isSpent = file.isSpent
  }

  private static func metadata(
    _ text: String, of source: String
  ) throws(RPCClientError) -> [(key: String, value: String)] {
    let white: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
    let front = Array(text.utf8.drop { white.contains($0) })
    let value = front.prefix((front.lastIndex { !white.contains($0) } ?? -1) + 1)
    guard !value.isEmpty, value.count <= maximumBytes,
      value.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw failure("\(source): no token") }
    return [(key: "authorization", value: "Bearer " + String(decoding: value, as: UTF8.self))]
  }

  private static func failure(_ message: String) -> RPCClientError {
    RPCClientError(.status(.unauthenticated), message).unsent
  }
}
