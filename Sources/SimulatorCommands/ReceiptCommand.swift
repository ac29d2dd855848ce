import ArgumentParser
import EntitlementDomain
import FoundationEssentials
import Programs
import StoreSimulator

struct ReceiptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receipt",
    abstract: "Sign the legacy receipt that one customer's app has at a moment.",
    discussion: """
      Prints the receipt in base64, or writes it as it is, in DER, into a file. It has every \
      non-consumable and every period until then, and consumables for an hour; before the first \
      purchase it is a receipt without purchases. With --archive it is the JSON that Apple's \
      verifyReceipt would have answered, which nobody signs.

      A directory from before there were receipts gains the keys for them: `storesim authority` \
      prints their root.
      """)

  @Option(
    help: ArgumentHelp(
      """
      The directory with the signing authority, as `storesim authority` makes it. Needed for a \
      receipt; with --archive the response then has the receipt too.
      """, valueName: "directory"))
  var authority: String?

  @OptionGroup var customer: CustomerOptions

  @Flag(help: "Write the JSON response of verifyReceipt in place of the receipt.")
  var archive = false

  @Option(help: "The hash under the signature; sha1 is of receipts before 2023.")
  var digest = ReceiptAuthority.Digest.sha256

  @Option(
    help: ArgumentHelp(
      "The device of the receipt: a UUID, or hexadecimal. Default: one that the seed gives.",
      valueName: "identifier"))
  var deviceIdentifier: DeviceIdentifier?

  @Option(help: ArgumentHelp("A file, or - for standard output.", valueName: "file|-"))
  var output = "-"

  func validate() throws {
    guard SimulatedReceipt.receiptType(for: customer.environment) != nil else {
      throw ValidationError("There are no receipts of \(customer.environment.rawValue).")
    }
    guard !archive || customer.environment != .xcode else {
      throw ValidationError("There are no archived responses of Xcode: verifyReceipt knew none.")
    }
    guard archive || authority != nil else {
      throw ValidationError("Missing expected argument '--authority <directory>'")
    }
  }

  func run() throws {
    let timeline = customer.timeline
    var receipt = timeline.receipt(at: customer.at)
    if let deviceIdentifier { receipt.deviceIdentifier = deviceIdentifier.bytes }
    let signer = try authority.map { directory throws(SimulatorError) in
      // Receipts' keys join an authority; they do not make a directory one.
      _ = try SigningAuthority.load(fromDirectory: directory)
      return try ReceiptAuthority.loadOrCreate(inDirectory: directory)
    }
    let signed = try signer?.sign(receipt, digest: digest)
    let device = DeviceIdentifier(bytes: receipt.deviceIdentifier)
    let purchases = receipt.items.count == 1 ? "1 purchase" : "\(receipt.items.count) purchases"
    StandardError.write(
      "\(customer.summary(of: timeline)): \(purchases), device \(device)"
        + (signer.map { ", root \($0.rootFingerprint)" } ?? ""))
    if archive {
      try write(receipt.archivedResponse(latestReceipt: signed) + [UInt8(ascii: "\n")])
    } else if let signed {
      try output == "-"
        ? StandardOutput.print(Data(signed).base64EncodedString()) : write(signed)
    }
  }

  private func write(_ contents: [UInt8]) throws(CommandFailure) {
    if output == "-" {
      try StandardOutput.print(String(decoding: contents, as: UTF8.self), terminator: "")
    } else {
      try CommandFailure.writing(output) {
        try Data(contents).write(to: URL(filePath: output), options: .atomic)
      }
    }
  }
}

extension ReceiptAuthority.Digest: ExpressibleByArgument {}
