import ArgumentParser
import StoreSimulator

struct AuthorityCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "authority",
    abstract: "Make a signing authority, or load it, and print its root's fingerprint.",
    discussion: """
      The fingerprint, sha256: and 64 hexadecimal digits, is what --trust-root of entitled and \
      entitlectl takes. It stays the same as long as the directory does. Keys are kept in PEM \
      files that only their owner can read.
      """)

  @Option(
    help: ArgumentHelp(
      "Where the authority is kept; made when it is absent.", valueName: "directory"))
  var directory: String

  func run() throws {
    let authority = try SigningAuthority.loadOrCreate(inDirectory: directory)
    try StandardOutput.print("\(authority.rootFingerprint)")
  }
}
