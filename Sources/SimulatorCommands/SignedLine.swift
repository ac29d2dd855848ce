import ArgumentParser
import EntitlementDomain
import FoundationEssentials
import Programs
import StoreSimulator

/// The kinds of payloads to write.
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

  /// The body of the App Store's request.
  var body: JSONObjectWriter {
    var writer = JSONObjectWriter()
    writer.set("signedPayload", jws)
    return writer
  }

  /// The payloads of `events`, in the order of signing.
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

/// A directory with one file for each signed payload, named by order and kind:
/// `001-transaction.jws`.
struct SignedLineDirectory {
  let path: String

  /// Creates the directory unless it exists, and replaces files of the same names.
  ///
  /// - Throws: ``CommandFailure``.
  func write(_ lines: [SignedLine]) throws(CommandFailure) {
    let directory = URL(filePath: path, directoryHint: .isDirectory)
    try CommandFailure.writing("the directory \(path)") {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }
    for (index, line) in lines.enumerated() {
      let number = String(index + 1)
      let padding = String(repeating: "0", count: max(0, 3 - number.count))
      let file = directory.appending(path: "\(padding)\(number)-\(line.kind.rawValue).jws")
      try CommandFailure.writing(file.path) {
        try Data("\(line.jws)\n".utf8).write(to: file, options: .atomic)
      }
    }
  }
}
