import ArgumentParser
import EntitlementDomain
import FoundationEssentials
import Programs
import StoreSimulator

struct SignReceiptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receipt",
    abstract: "Sign the legacy receipt that one customer's app has at a moment.",
    discussion: """
      Prints the receipt in base64, or writes it in DER to a file. It contains every \
      non-consumable and every period until the moment, and consumables of the last hour; before \
      the first purchase it contains no purchases. With --archive the output is the unsigned JSON \
      response of Apple's verifyReceipt.

      An authority without keys for receipts gets them: `storesim authority` prints their root.
      """)

  @Option(
    help: ArgumentHelp(
      """
      Directory of the signing authority, made by `storesim authority`. Required for a receipt; \
      optional with --archive, where it adds the receipt to the response.
      """, valueName: "directory"))
  var authority: String?

  @OptionGroup var customer: LifeCycleOptions

  @Flag(help: "Write the JSON response of verifyReceipt instead of the receipt.")
  var archive = false

  @Flag(
    help: """
      Sign as Xcode does: with a certificate for code signing, which `storesim authority --xcode` \
      prints, and with indefinite lengths (BER). Only in the environment Xcode.
      """)
  var xcode = false

  @Option(help: "Hash of the signature; receipts before 2023 have sha1.")
  var digest = ReceiptAuthority.Digest.sha256

  @Option(
    help: ArgumentHelp(
      "Device of the receipt: a UUID, or hexadecimal. Default: derived from the seed.",
      valueName: "identifier"))
  var deviceIdentifier: DeviceIdentifier?

  @Option(help: ArgumentHelp("A file, or - for standard output.", valueName: "file|-"))
  var output = "-"

  func validate() throws {
    guard SimulatedReceipt.receiptType(for: customer.environment) != nil else {
      throw ValidationError(
        "There are no receipts in the environment \(customer.environment.rawValue).")
    }
    guard !archive || customer.environment != .xcode else {
      throw ValidationError("There are no archived responses in the environment Xcode.")
    }
    guard !xcode || customer.environment == .xcode else {
      throw ValidationError("--xcode needs --environment Xcode.")
    }
    guard !xcode || digest == .sha256 else {
      throw ValidationError("Xcode signs with sha256.")
    }
    guard archive || authority != nil else {
      throw ValidationError("Missing expected argument '--authority <directory>'")
    }
  }

  func run() throws {
    let timeline = customer.timeline
    var receipt = timeline.receipt(at: customer.at)
    if let deviceIdentifier { receipt.deviceIdentifier = deviceIdentifier.bytes }
    let (signed, root) = try authority.map { try sign(receipt, inDirectory: $0) } ?? (nil, nil)
    let device = DeviceIdentifier(bytes: receipt.deviceIdentifier)
    let purchases = receipt.items.count == 1 ? "1 purchase" : "\(receipt.items.count) purchases"
    StandardError.write(
      "\(customer.summary(of: timeline)): \(purchases), device \(device)"
        + (root.map { ", root \($0)" } ?? ""))
    if archive {
      try write(receipt.archivedResponse(latestReceipt: signed) + [UInt8(ascii: "\n")])
    } else if let signed {
      try output == "-"
        ? SimulatorOutput.print(Data(signed).base64EncodedString()) : write(signed)
    }
  }

  /// - Returns: the signed receipt, and the fingerprint of its root.
  private func sign(
    _ receipt: SimulatedReceipt, inDirectory directory: String
  ) throws(SimulatorError) -> (signed: [UInt8]?, root: String?) {
    // The keys for receipts are added to an existing authority only.
    _ = try SigningAuthority.load(fromDirectory: directory)
    if xcode {
      let signer = try XcodeAuthority.loadOrCreate(inDirectory: directory)
      return (try signer.sign(receipt), "\(signer.receiptFingerprint)")
    }
    let signer = try ReceiptAuthority.loadOrCreate(inDirectory: directory)
    return (try signer.sign(receipt, digest: digest), "\(signer.rootFingerprint)")
  }

  private func write(_ contents: [UInt8]) throws(CommandFailure) {
    if output == "-" {
      try SimulatorOutput.print(String(decoding: contents, as: UTF8.self), terminator: "")
    } else {
      try CommandFailure.writing(output) {
        try Data(contents).write(to: URL(filePath: output), options: .atomic)
      }
    }
  }
}

extension ReceiptAuthority.Digest: ExpressibleByArgument {}

extension DeviceIdentifier: ExpressibleByArgument {
  package init?(argument: String) {
    self.init(text: argument)
  }
}
