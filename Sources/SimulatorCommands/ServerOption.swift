import ArgumentParser
import Wire

struct ServerOption: ParsableArguments {
  @Option(
    name: .customLong("server"),
    help: ArgumentHelp(
      "Where the server listens: host:port, [::1]:port or unix:/path.", valueName: "address"))
  var argument: ServerArgument

  var address: ServerAddress { argument.value }
}

struct ServerArgument: ExpressibleByArgument {
  let value: ServerAddress

  init?(argument: String) {
    guard let value = try? ServerAddress(parsing: argument) else { return nil }
    self.value = value
  }
}
