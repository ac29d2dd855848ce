import EntitlementDomain
import Wire

/// Checks the answer to a submission. Describes a fault for people, without payloads.
enum SubmissionFault {
  /// - Parameter isKnown: whether all payloads were known before, and belonged to the customer.
  /// - Returns: nil when the answer is correct.
  static func text(
    _ answer: SubmitSignedTransactionsResponse, payloads: Int, ofCustomer index: Int,
    isKnown: Bool
  ) -> String? {
    guard answer.results.count == payloads else {
      return "the number of results differs from the number of payloads"
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
        if isKnown {
          return "customer \(account): a payload that was submitted before was not known"
        }
      case .duplicate, .superseded: break
      case nil: return "customer \(account): the disposition of a payload is missing"
      }
      switch result.link {
      case .unchanged: break
      case .linked where !isKnown: break
      default:
        let link = result.link.map { "\($0)" } ?? "missing"
        return "customer \(account): the link outcome of a purchase is \(link)"
      }
    }
    guard customers.contains(where: { $0.subject == .account(account) && $0.revision > 0 }) else {
      return "customer \(account): missing from the customers of the answer"
    }
    return nil
  }
}
