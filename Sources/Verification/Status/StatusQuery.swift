import Cryptography
import EntitlementDomain

/// A query for the status of a certificate.
struct StatusQuery: Sendable {
  /// Identifies a query. Chains that share the two certificates share the query.
  struct Key: Hashable, Sendable {
    let certificate: CertificateFingerprint
    let issuer: CertificateFingerprint
  }

  let certificate: Certificate
  let issuer: Certificate
  /// The role of the certificate in its chain: leaf or intermediate.
  let name: String

  var key: Key { Key(certificate: certificate.fingerprint, issuer: issuer.fingerprint) }

  /// The URL of the responder; nil if the certificate has none with `http:`.
  ///
  /// Responses are signed, so certificates use `http:` URLs. `https:` would first need trusted
  /// certificates of its own.
  var address: String? {
    certificate.statusResponderAddresses.first { $0.lowercased().hasPrefix("http://") }
  }
}

extension CertificateChain {
  /// The queries for this chain. The root is excluded because it is trusted directly. Certificates
  /// that are not valid now are excluded because issuers do not report on them.
  func statusQueries(at now: Milliseconds) -> [StatusQuery] {
    zip(certificates, certificates.dropFirst()).enumerated().compactMap { index, pair in
      let (certificate, issuer) = pair
      guard certificate.validity.contains(now.rawValue) else { return nil }
      return StatusQuery(
        certificate: certificate, issuer: issuer, name: index == 0 ? "leaf" : "intermediate")
    }
  }
}

/// The result of one status request.
enum StatusResult {
  case certificateStatus(OCSPCertificateStatus)
  /// - Parameters:
  ///   - kind: never ``StatusEvent/Kind/revoked``.
  ///   - why: the reason for the caller, without a full stop. It contains no host names or
  ///     addresses.
  ///   - detail: the description for the log.
  case failure(StatusEvent.Kind, why: String, detail: String)

  static func failure(_ kind: StatusEvent.Kind, _ why: String) -> StatusResult {
    .failure(kind, why: why, detail: why)
  }

  /// What to log; nil for a good status.
  var event: (kind: StatusEvent.Kind, detail: String)? {
    switch self {
    case .failure(let kind, _, let detail):
      return (kind, detail)
    case .certificateStatus(let certificateStatus):
      switch certificateStatus.status {
      case .good: return nil
      case .revoked(let moment, let reason):
        return (.revoked, "since \(moment) (milliseconds), reason: \(reason ?? "none given")")
      case .unknown: return (.unknown, "the responder does not know the certificate")
      }
    }
  }

  func count(in statistics: inout StatusStatistics) {
    switch self {
    case .certificateStatus(let certificateStatus):
      switch certificateStatus.status {
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

/// The status of a certificate, as far as it is known.
enum StatusOutcome: Hashable, Sendable {
  case good
  /// - Parameter reason: the reason that the issuer states; nil if there is none.
  case revoked(reason: String?)
  /// - Parameter why: a description without a full stop.
  case undecided(why: String)
}
