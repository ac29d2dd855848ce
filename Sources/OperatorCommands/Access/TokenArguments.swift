import AccessControl
import ArgumentParser
import EntitlementDomain
import Wire

extension Role: ExpressibleByArgument {}

/// The name of a permission on the command line.
struct PermissionArgument: ExpressibleByArgument {
  let permission: Permission

  init?(argument: String) {
    guard let permission = Permission(name: argument) else { return nil }
    self.permission = permission
  }
}

/// An app on the command line, with the environments that are permitted: `BUNDLE[=ENVIRONMENT,…]`.
struct PermittedAppArgument: ExpressibleByArgument {
  let bundleID: String
  let environments: [StoreEnvironment]

  init?(argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    bundleID = String(parts[0])
    guard parts.count == 2 else {
      environments = EnvironmentName.allCases.map(\.environment)
      return
    }
    var found: [StoreEnvironment] = []
    for name in parts[1].split(separator: ",", omittingEmptySubsequences: false) {
      guard let environment = EnvironmentName(argument: String(name)) else { return nil }
      found.append(environment.environment)
    }
    environments = found
  }
}

/// When a token ends.
enum TokenExpiry: ExpressibleByArgument {
  case never
  case at(Milliseconds)
  case after(CalendarDuration)

  /// Short enough that rotation is practised.
  static let defaultTime = CalendarDuration(days: 90)

  init?(argument: String) {
    if argument == "never" {
      self = .never
    } else if let duration = CalendarDurationArgument(argument: argument) {
      self = .after(duration.duration)
    } else if let moment = Milliseconds(rfc3339: argument)
      ?? Milliseconds(rfc3339: argument + "T00:00:00Z")
    {
      self = .at(moment)
    } else {
      return nil
    }
  }

  var defaultValueDescription: String { "P90D" }

  /// In whole seconds, as the file has it. Nil: never.
  func end(from now: Milliseconds) -> Milliseconds? {
    let end: Milliseconds? =
      switch self {
      case .never: nil
      case .at(let moment): moment
      case .after(let duration): duration.end(from: now)
      }
    return end.map { Milliseconds($0.rawValue / 1_000 * 1_000) }
  }
}
