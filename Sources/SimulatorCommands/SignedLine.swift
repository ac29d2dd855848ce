import ArgumentParser
import EntitlementDomain
import StoreSimulator

/// Which payloads of a history are wanted.
enum SignedLineKinds: String, CaseIterable, ExpressibleByArgument {
  case transactions
  case notifications
  case all
}

/// One signed payload of a history.
struct SignedLine {
  enum Kind: String {
    case transaction
    case renewalInfo
    case appTransaction
    case notification
  }

  let at: Milliseconds
  let kind: Kind
  let jws: String

  var json: JSONObjectWriter {
    var writer = JSONObjectWriter()
    writer.set("at", at.rawValue)
    writer.set("kind", kind.rawValue)
    writer.set("signedPayload", jws)
    return writer
  }

  /// In the order of signing.
  static func lines(of events: [SignedEvent], include: SignedLineKinds) -> [SignedLine] {
    events.flatMap { event in
      var lines: [SignedLine] = []
      if include != .notifications {
        lines += event.transactions.map { SignedLine(at: event.at, kind: .transaction, jws: $0) }
        lines += [event.renewalInfo].compactMap { $0 }
          .map { SignedLine(at: event.at, kind: .renewalInfo, jws: $0) }
        lines += [event.appTransaction].compactMap { $0 }
          .map { SignedLine(at: event.at, kind: .appTransaction, jws: $0) }
      }
      if include != .transactions, let notification = event.notification {
        lines.append(SignedLine(at: event.at, kind: .notification, jws: notification))
      }
      return lines
    }
  }
}
