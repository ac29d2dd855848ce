package import ArgumentParser
import Foundation
package import Framing
import Programs
package import RPCClient

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
      let token =
        if let tokenFile {
          try tokenFile == "-" ? ClientToken(Self.standardInput()) : ClientToken(file: tokenFile)
        } else if let variable {
          try Self.token(inVariable: variable)
        } else {
          // One of the three is there.
          ClientToken(file: file ?? "")
        }
      try token.check()
      return token
    } catch {
      throw CommandFailure(.failed, error.message)
    }
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
