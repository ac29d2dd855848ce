import EntitlementDomain
import Wire

/// What is wrong with the answer to a submission, in words for people; without payloads.
enum SubmissionFault {
  /// - Parameter isKnown: whether everything was known before, and owned by the customer.
  static func text(
    _ answer: SubmitSignedTransactionsResponse, payloads: Int, ofCustomer index: Int,
    isKnown: Bool
  ) -> String? {
    guard answer.results.count == payloads else {
      return "another number of results than of payloads"
    }
    return text(answer.results, answer.customers, ofCustomer: index, isKnown: isKnown)
  }

  static func text(_ answer: SubmitNotificationResponse, ofCustomer index: Int) -> String? {
    guard answer.verdict == .ok else {
      return "customer \(BulkCustomers.account(at: index)): refused as \(answer.verdict)"
    }
    return text(answer.results, answer.customers, ofCustomer: index, isKnown: false)
  }

  private static func text(
    _ results: [SubmittedItemResult], _ customers: [SubmittedCustomer], ofCustomer index: Int,
    isKnown: Bool
  ) -> String? {
    let account = BulkCustomers.account(at: index)
    for result in results {
      guard result.verdict == .ok else {
        return "customer \(account): a payload was refused as \(result.verdict)"
      }
      switch result.disposition {
      case .added, .replaced:
        if isKnown { return "customer \(account): what it handed in again was not known" }
      case .duplicate, .superseded: break
      case nil: return "customer \(account): what became of a payload is not told"
      }
      switch result.link {
      case .unchanged: break
      case .linked where !isKnown: break
      default:
        let link = result.link.map { "\($0)" } ?? "not told"
        return "customer \(account): the owner of a purchase was answered as \(link)"
      }
    }
    guard customers.contains(where: { $0.subject == .account(account) && $0.revision > 0 }) else {
      return "customer \(account): not among the customers that the submission concerns"
    }
    return nil
  }
}
