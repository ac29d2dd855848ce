import ArgumentParser
import StoreSimulator

struct AuthorityOption: ParsableArguments {
  @Option(
    name: .customLong("authority"),
    help: ArgumentHelp(
      "The directory with the signing authority, as `storesim authority` makes it.",
      valueName: "directory"))
  var directory: String

  func load() throws(SimulatorError) -> SigningAuthority {
    try SigningAuthority.load(fromDirectory: directory)
  }
}
