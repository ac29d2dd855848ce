import ArgumentParser
import EntitlementDomain

/// An environment by Apple's name, in any case.
struct EnvironmentArgument: ExpressibleByArgument {
  let value: StoreEnvironment

  init(value: StoreEnvironment) {
    self.value = value
  }

  init?(argument: String) {
    let wanted = argument.lowercased()
    guard let value = StoreEnvironment.allCases.first(where: { $0.rawValue.lowercased() == wanted })
    else { return nil }
    self.value = value
  }

  static var allValueStrings: [String] { StoreEnvironment.allCases.map(\.rawValue) }

  var defaultValueDescription: String { value.rawValue }
}
