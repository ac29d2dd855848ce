package import ArgumentParser
import Foundation
package import Framing
import Programs
package import RPCClient
import Synchronization

/// The token of a program's caller, in a file or in the environment. Never an argument: other users
/// of the machine can see those.
package struct TokenOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      File of the token, which other users must not be able to read; -: stdin. It is read again \
      when it changes. Default: the environment's \(TokenOptions.variable).
      """, valueName: "file"))
  package var tokenFile: String?

  package init() {}

  /// One for all programs. Not `ENTITLE_…`: the server refuses such variables that it does not know.
  package static let variable = "ENTITLECTL_TOKEN"

  /// The tokens of files that this process has read. Standard input and pipes can be read once, and
  /// a command may connect several times.
  private static let read = Mutex<[String: ClientToken]>([:])

  /// The longest standard input that is read, in bytes. A token has about 60.
  private static let maximumBytes = 4_096

  /// The token for a server: that of `--token-file`, else of the environment, else of `file`.
  ///
  /// - Parameter file: of the caller's context.
  /// - Returns: nil without a token.
  /// - Throws: `ValidationError` where others could read it on its way; ``CommandFailure`` when it
  ///   cannot be read, never with the token.
  package func token(
    for address: ServerAddress, orIn file: String? = nil,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> ClientToken? {
    let variable = environment[Self.variable].flatMap { $0.isEmpty ? nil : $0 }
    guard tokenFile != nil || variable != nil || file != nil else { return nil }
    try Self.requireConfidential(address)
    do throws(RPCClientError) {
      if tokenFile == nil, let variable { return try Self.token(inVariable: variable) }
      return try Self.token(inFile: tokenFile ?? file ?? "")
    } catch {
      throw CommandFailure(.failed, error.message)
    }
  }

  private static func token(inFile path: String) throws(RPCClientError) -> ClientToken {
    if let known = read.withLock({ $0[path] }) { return known }
    let token = path == "-" ? try ClientToken(standardInput()) : ClientToken(file: path)
    try token.check()
    read.withLock { $0[path] = token }
    return token
  }

  /// - Throws: `ValidationError` for an address to which a token would travel readably.
  package static func requireConfidential(_ address: ServerAddress) throws {
    guard address.isEncrypted || address.isLoopback else {
      throw ValidationError(
        "\(address): a token is sent to another machine with TLS only; use tls:\(address)")
    }
  }

  private static func token(inVariable value: String) throws(RPCClientError) -> ClientToken {
    do throws(RPCClientError) {
      return try ClientToken(value)
    } catch {
      var failure = error
      failure.message = "\(variable): no token"
      throw failure
    }
  }

  private static func standardInput() -> String {
    // A failure to read gives no token, which is told.
    let data = try? FileHandle.standardInput.read(upToCount: maximumBytes)
    return String(decoding: data ?? Data(), as: UTF8.self)
  }
}
