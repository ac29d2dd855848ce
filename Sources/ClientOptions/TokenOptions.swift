package import ArgumentParser
import Foundation
package import Programs

/// The token of a program's caller, in a file or in the environment. Never an argument: other users
/// of the machine can see those.
package struct TokenOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      File of the token, which other users must not be able to read; -: stdin. Default: the \
      environment's \(TokenOptions.variable).
      """, valueName: "file"))
  package var tokenFile: String?

  package init() {}

  /// One for all programs. Not `ENTITLE_…`: the server refuses such variables that it does not know.
  package static let variable = "ENTITLECTL_TOKEN"

  /// The longest file that is read, in bytes. A token has about 60.
  private static let maximumBytes = 4_096

  /// The metadata of each call: empty without a token.
  ///
  /// - Throws: ``CommandFailure``.
  package func metadata() throws(CommandFailure) -> [(key: String, value: String)] {
    guard let token = try token() else { return [] }
    return [(key: "authorization", value: "Bearer \(token)")]
  }

  /// - Throws: ``CommandFailure``, never with the token.
  package func token() throws(CommandFailure) -> String? {
    let text: String
    if let tokenFile {
      text = try Self.contents(of: tokenFile)
    } else if let value = ProcessInfo.processInfo.environment[Self.variable] {
      text = value
    } else {
      return nil
    }
    let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw CommandFailure(.failed, "\(tokenFile ?? Self.variable): no token")
    }
    return token
  }

  private static func contents(of path: String) throws(CommandFailure) -> String {
    var status = stat()
    if path != "-", stat(path, &status) == 0 {
      // As ssh does with a private key.
      let others: mode_t = status.st_uid == getuid() ? 0o077 : 0o007
      guard status.st_mode & others == 0 else {
        throw CommandFailure(.failed, "\(path): other users may read the token (chmod 600)")
      }
    }
    do {
      let file =
        path == "-"
        ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
      return String(decoding: try file.read(upToCount: maximumBytes) ?? Data(), as: UTF8.self)
    } catch {
      throw CommandFailure(.failed, "\(path): the token cannot be read")
    }
  }
}
