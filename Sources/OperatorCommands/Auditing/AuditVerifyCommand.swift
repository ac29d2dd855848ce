import ArgumentParser
import EntitlementDomain
import EntitlementStore
import Programs
import RPCClient
import Wire

struct AuditVerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Recomputes all hashes of the audit trail.",
    discussion: """
      Reads every entry and every seal, and computes the chains here. Prints the last seal: note \
      its hash elsewhere. Without --head, a person who can write all tables of the database can \
      make another trail that verifies. Gaps after failovers are told of, and are no break. Exit \
      code 1 when the trail is broken, with the first place.
      """)

  @Option(help: "Hash of an entry or a seal that was noted earlier, which must be found.")
  var head: String?

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard let head else { return }
    guard head.utf8.count == 64, head.allSatisfy(\.isHexDigit) else {
      throw ValidationError("--head is 64 hexadecimal digits")
    }
  }

  /// Attempts while retention removes entries that are being read.
  private static let maximumAttempts = 3

  func run() async throws {
    let verification = try await server.withClient { client in
      var verification = try await verify(client)
      var attempts = 1
      while verification.fault != nil, attempts < Self.maximumAttempts,
        try await isSealed(after: verification.lastSeal?.number ?? 0, client)
      {
        verification = try await verify(client)
        attempts += 1
      }
      return verification
    }
    try output.write(document: AuditReport(verification)) { $0.table }
    if let fault = verification.fault {
      throw CommandFailure(
        .failed, "the audit trail is broken at \(fault.place): \(fault.problem)")
    }
  }

  private func isSealed(after number: Int64, _ client: EntitlementClient) async throws -> Bool {
    let request = ListAuditSealsRequest(afterNumber: number, pageSize: 1)
    return try await !client.listAuditSeals(request).seals.isEmpty
  }

  private func verify(_ client: EntitlementClient) async throws -> AuditVerification {
    var verification = AuditVerification(notedHead: head?.lowercased())
    // The seals first: entries that follow may be more than they name, and never fewer.
    var last: Int64 = 0
    while true {
      let page = try await client.listAuditSeals(
        ListAuditSealsRequest(afterNumber: last, pageSize: ListAuditSealsRequest.largestPageSize)
      ).seals
      guard let end = page.last else { break }
      for seal in page { try verification.add(AuditSeal(seal)) }
      // A number that does not grow is found to be a fault, and must not be asked for again.
      guard end.number > last else { break }
      last = end.number
    }
    for try await entry in client.auditEntries(
      ListAuditEntriesRequest(
        isByChain: true, pageSize: ListAuditEntriesRequest.largestPageSize))
    {
      try verification.add(AuditEntry(entry))
    }
    verification.finish()
    return verification
  }
}

/// The document that `audit verify` prints.
struct AuditReport: Encodable {
  struct Fault: Encodable {
    let place: String
    let problem: String
  }

  struct Gap: Encodable {
    let at: String
    let node: String
    let lost: String
  }

  struct Seal: Encodable {
    let number: Int64
    let at: String
    let hash: String
  }

  let isWhole: Bool
  let entries: Int
  let chains: Int
  let removed: Int64
  let gaps: [Gap]
  let lastSeal: Seal?
  let fault: Fault?

  private enum CodingKeys: String, CodingKey {
    case isWhole = "whole"
    case entries, chains, removed, gaps, lastSeal, fault
  }

  init(_ verification: AuditVerification) {
    isWhole = verification.fault == nil
    entries = verification.entryCount
    chains = verification.chainCount
    removed = verification.removedCount
    gaps = verification.gaps.map {
      Gap(at: $0.at.rfc3339, node: $0.node, lost: $0.subject)
    }
    lastSeal = verification.lastSeal.map {
      Seal(number: $0.number, at: $0.at.rfc3339, hash: $0.hash)
    }
    fault = verification.fault.map { Fault(place: $0.place, problem: $0.problem) }
  }

  var table: String {
    var lines = [
      "trail      \(isWhole ? "whole" : "broken")",
      "entries    \(entries) in \(chains) chains, and \(removed) removed for their age",
      "last seal  \(lastSeal.map { "\($0.number) of \($0.at), head \($0.hash)" } ?? "none")",
    ]
    lines += gaps.map { "gap        \($0.at) \($0.node): \($0.lost)" }
    return lines.map { TerminalText.escaped($0) }.joined(separator: "\n")
  }
}

// MARK: Messages

extension AuditEntry {
  init(_ entry: AuditedCallEntry) {
    self.init(
      chain: entry.chain, position: entry.position, node: entry.node, at: entry.at,
      peer: entry.peer, method: entry.method, bundleID: entry.app ?? "",
      environment: entry.appEnvironment ?? "", account: entry.account ?? "",
      formerAccount: entry.formerAccount ?? "", author: entry.author ?? "",
      onBehalfOf: entry.onBehalfOf ?? "", proof: entry.proof ?? "", tokenID: entry.tokenID ?? "",
      reason: entry.reason ?? "", subject: entry.subject ?? "", outcome: entry.outcome,
      previous: entry.previousHash ?? "", hash: entry.hash)
  }
}

extension AuditSeal {
  init(_ seal: AuditSealEntry) {
    self.init(
      number: seal.number, at: seal.at, node: seal.node,
      chains: seal.chains.map { chain in
        SealedChain(
          chain: chain.chain, head: AuditHead(position: chain.position, hash: chain.hash),
          removed: AuditHead(position: chain.removedPosition, hash: chain.removedHash ?? ""))
      }, previous: seal.previousHash ?? "", hash: seal.hash)
  }
}
