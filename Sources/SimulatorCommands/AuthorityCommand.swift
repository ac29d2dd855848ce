import ArgumentParser
import StoreSimulator

struct AuthorityCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "authority",
    abstract: "Make a signing authority, or load it, and print its roots' fingerprints.",
    discussion: """
      Two lines: the root of what StoreKit 2 and notifications carry, then the root of legacy \
      receipts, as Apple has one for each. A fingerprint, sha256: and 64 hexadecimal digits, is \
      what --trust-root of entitled and entitlectl takes; both take several. They stay the same as \
      long as the directory does; a directory from before there were receipts gains their root. \
      Keys are kept in PEM files that only their owner can read.
      """)

  @Option(
    help: ArgumentHelp(
      "Where the authority is kept; made when it is absent.", valueName: "directory"))
  var directory: String

  func run() throws {
    let authority = try SigningAuthority.loadOrCreate(inDirectory: directory)
    let receiptAuthority = try ReceiptAuthority.loadOrCreate(inDirectory: directory)
    try StandardOutput.print(
      "\(authority.rootFingerprint)\n\(receiptAuthority.rootFingerprint)")
  }
}
