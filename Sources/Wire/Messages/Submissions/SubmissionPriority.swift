import CEntitleMessages

/// How soon a submission is verified when there is more to do than workers. Raw values are those of
/// the wire.
public enum SubmissionPriority: Int, Hashable, Sendable, CaseIterable {
  /// Somebody waits: before whatever is bulk.
  case interactive = 1
  /// An import: when nobody waits, and never in more than its share of the queue.
  case bulk = 2
}

extension SubmissionPriority {
  /// The default is not sent: the most frequent request stays small.
  var message: Entitle__V1__SubmissionPriority {
    switch self {
    case .interactive: ENTITLE__V1__SUBMISSION_PRIORITY__SUBMISSION_PRIORITY_UNSPECIFIED
    case .bulk: ENTITLE__V1__SUBMISSION_PRIORITY__SUBMISSION_PRIORITY_BULK
    }
  }
}

extension MappedMessage {
  static func priority(
    _ message: Entitle__V1__SubmissionPriority
  ) throws(MessageError) -> SubmissionPriority {
    if message == ENTITLE__V1__SUBMISSION_PRIORITY__SUBMISSION_PRIORITY_UNSPECIFIED {
      return .interactive
    }
    guard let priority = known(message, of: SubmissionPriority.self) else {
      throw error(.unknownValue(field: "priority"))
    }
    return priority
  }
}
