import ArgumentParser

/// Who changes something, and why: kept for ever.
struct AuditOptions: ParsableArguments {
  @Option(help: "Why, for those who look at it later.")
  var reason: String

  @Option(help: "Who asks for it.")
  var author: String
}
