import ArgumentParser
import EntitlementDomain

extension DeviceIdentifier: ExpressibleByArgument {
  package init?(argument: String) {
    self.init(text: argument)
  }
}
