import ArgumentParser
import EntitlementDomain

/// Which customer a question is about.
struct CustomerOptions: ParsableArguments {
  enum Selector: String, ExpressibleByArgument, CaseIterable {
    case account
    case originalTransaction = "original-transaction"
    case transaction
    case appTransaction = "app-transaction"
    case appAccountToken = "app-account-token"
  }

  @Argument(help: "The customer's id, of the kind that --by names.")
  var id: String

  @Option(help: "What the id is.")
  var by: Selector = .account

  var selector: CustomerSelector {
    switch by {
    case .account: .account(AccountID(id))
    case .originalTransaction: .originalTransaction(OriginalTransactionID(id))
    case .transaction: .transaction(TransactionID(id))
    case .appTransaction: .appTransaction(AppTransactionID(id))
    case .appAccountToken: .appAccountToken(AppAccountToken(id))
    }
  }
}
