import Cryptography

/// What came of one question.
enum StatusAnswer {
  case standing(CertificateStanding)
  /// - Parameters:
  ///   - kind: never ``StatusEvent/Kind/revoked``.
  ///   - why: for people who submitted, without full stop: it names neither hosts nor addresses.
  ///   - detail: for the log.
  case failure(StatusEvent.Kind, why: String, detail: String)

  static func failure(_ kind: StatusEvent.Kind, _ why: String) -> StatusAnswer {
    .failure(kind, why: why, detail: why)
  }

  /// What to log; nil when all is well.
  var event: (kind: StatusEvent.Kind, detail: String)? {
    switch self {
    case .failure(let kind, _, let detail):
      return (kind, detail)
    case .standing(let standing):
      switch standing.status {
      case .good: return nil
      case .revoked(let moment, let reason):
        return (.revoked, "since \(moment) (milliseconds), reason: \(reason ?? "none given")")
      case .unknown: return (.unknown, "the responder does not know the certificate")
      }
    }
  }

  func count(in statistics: inout StatusStatistics) {
    switch self {
    case .standing(let standing):
      switch standing.status {
      case .good: statistics.good += 1
      case .revoked: statistics.revoked += 1
      case .unknown: statistics.unknown += 1
      }
    case .failure(let kind, _, _):
      switch kind {
      case .revoked: statistics.revoked += 1
      case .unknown: statistics.unknown += 1
      case .unusable: statistics.unusable += 1
      case .unreachable: statistics.unreachable += 1
      case .withoutResponder: statistics.withoutResponder += 1
      }
    }
  }
}
