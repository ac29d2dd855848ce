import ArgumentParser
import EntitlementDomain

/// Which chain or app transaction is meant.
struct TargetOptions: ParsableArguments {
  @Option(help: "The chain, by its original transaction id.")
  var originalTransaction: String?

  @Option(help: "The app transaction, by its id, instead of --original-transaction.")
  var appTransaction: String?

  func validate() throws {
    guard (originalTransaction == nil) != (appTransaction == nil) else {
      throw ValidationError("one of --original-transaction and --app-transaction is needed")
    }
  }

  var target: LinkTarget {
    if let originalTransaction {
      .chain(OriginalTransactionID(originalTransaction))
    } else {
      // Validated: exactly one is there.
      .appTransaction(AppTransactionID(appTransaction ?? ""))
    }
  }
}

extension LinkTarget {
  /// For people: `chain 2000000000000001`.
  var display: String {
    switch self {
    case .chain(let id): "chain \(id)"
    case .appTransaction(let id): "app transaction \(id)"
    }
  }
}
