import ArgumentParser
import StoreSimulator

struct AuthorityCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "authority",
    abstract: "Create or load a signing authority, and print the fingerprints of its roots.",
    discussion: """
      Prints two lines: the root for StoreKit 2 and notifications, then the root for legacy \
      receipts. Apple has one root for each, too. A fingerprint is sha256: and 64 hexadecimal \
      digits; --trust-root of entitled and entitlectl takes it, and can be repeated. Without an \
      environment before it, it stands for all but Production. The roots do not change while the \
      directory exists; a root for receipts is added to an older directory without one. Keys are \
      stored in PEM files that only their owner can read.

      With --xcode the two fingerprints are those of certificates like the ones that Xcode signs \
      with: for payloads, then for receipts.
      """)

  @Option(
    help: ArgumentHelp(
      "Directory of the authority; created if it does not exist.", valueName: "directory"))
  var directory: String

  @Flag(help: "The certificates of `sign --xcode` and `receipt --xcode` instead.")
  var xcode = false

  func run() throws {
    guard !xcode else {
      let authority = try XcodeAuthority.loadOrCreate(inDirectory: directory)
      return try SimulatorOutput.print("\(authority.fingerprint)\n\(authority.receiptFingerprint)")
    }
    let authority = try SigningAuthority.loadOrCreate(inDirectory: directory)
    let receiptAuthority = try ReceiptAuthority.loadOrCreate(inDirectory: directory)
    try SimulatorOutput.print(
      "\(authority.rootFingerprint)\n\(receiptAuthority.rootFingerprint)")
  }
}

struct AuthorityOption: ParsableArguments {
  @Option(
    name: .customLong("authority"),
    help: ArgumentHelp(
      "Directory of the signing authority, made by `storesim authority`.",
      valueName: "directory"))
  var directory: String

  func load() throws(SimulatorError) -> SigningAuthority {
    try SigningAuthority.load(fromDirectory: directory)
  }
}
