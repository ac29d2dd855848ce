import ArgumentParser
package import Framing

/// An address on the command line: `[tls:|mtls:]HOST:PORT` or `unix:PATH`.
package struct ServerArgument: ExpressibleByArgument {
  package let address: ServerAddress

  package init?(argument: String) {
    guard let address = try? ServerAddress(parsing: argument) else { return nil }
    self.address = address
  }

  package var defaultValueDescription: String { "\(address)" }
}
