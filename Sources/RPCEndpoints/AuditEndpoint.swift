import AccessControl
import EntitlementDomain
package import EntitlementService
package import EntitlementStore
import NIOCore
package import RPCServer
import Traces
package import Wire

/// `entitle.v1.AuditService`: the audit trail.
package struct AuditEndpoint: Sendable {
  private let records: AuditRecords

  package init(records: AuditRecords) {
    self.records = records
  }

  package func register(in router: inout RPCRouter) {
    router.unary(WireMethods.listAuditEntries, listAuditEntries)
    router.unary(WireMethods.listAuditSeals, listAuditSeals)
  }

  @Sendable
  private func listAuditEntries(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, ListAuditEntriesRequest.self) { request in
      .later {
        let size = request.effectivePageSize
        var query = AuditQuery(
          isByChain: request.isByChain, limit: size,
          scope: try request.selectedScope,
          account: request.accountID, method: request.method, author: request.author,
          onBehalfOf: request.onBehalfOf,
          from: request.from, until: request.until)
        if let token = request.pageToken {
          guard let place = AuditQuery.Place(token: token) else {
            throw ServiceError(
              .invalidArgument(field: "page_token"), "the page token is not one of this server")
          }
          query.after = place
        }
        let entries = try await records.entries(query)
        let last = entries.count < size ? nil : entries.last
        return try ListAuditEntriesResponse(
          entries: entries.map { AuditedCallEntry($0) },
          nextPageToken: last.map {
            AuditQuery.Place(at: $0.at, chain: $0.chain, position: $0.position).token
          }
        ).encoded()
      }
    }
  }

  @Sendable
  private func listAuditSeals(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, ListAuditSealsRequest.self) { request in
      .later {
        let seals = try await records.seals(
          after: request.afterNumber, limit: request.effectivePageSize)
        return try ListAuditSealsResponse(seals: seals.map { AuditSealEntry($0) }).encoded()
      }
    }
  }
}

extension RPCCall {
  /// The origin of the call for the audit trail.
  var auditCaller: AuditCaller {
    let proof: AuditProof =
      switch identity.kind {
      case nil: .none
      case .token: .token
      case .certificate: .certificate
      case .user: .user
      }
    return AuditCaller(
      peer: peer.place, name: identity.caller.name, proof: proof, tokenID: identity.tokenID ?? "",
      traceID: CallTracer.currentIDs?.trace.bytes)
  }
}

// MARK: Messages

extension ListAuditEntriesRequest {
  /// Nil for an environment that is not known.
  var selectedEnvironment: StoreEnvironment? {
    StoreEnvironment(rawValue: appEnvironment ?? StoreEnvironment.production.rawValue)
  }

  /// Nil for all apps.
  fileprivate var selectedScope: AppScope? {
    get throws {
      guard let app else { return nil }
      guard let environment = selectedEnvironment else {
        throw ServiceError(
          .invalidArgument(field: "app_environment"), "the environment is not known")
      }
      return AppScope(bundleID: BundleID(app), environment: environment)
    }
  }
}

extension AuditQuery.Place {
  /// The text of a page token.
  fileprivate var token: String { "\(at.rawValue):\(chain):\(position)" }

  fileprivate init?(token: String) {
    let parts = token.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, let at = Int64(parts[0]), let position = Int64(parts[2]),
      parts[1].utf8.allSatisfy({ UInt8(ascii: "!")...UInt8(ascii: "~") ~= $0 })
    else { return nil }
    self.init(at: Milliseconds(at), chain: String(parts[1]), position: position)
  }
}

extension AuditedCallEntry {
  package init(_ entry: AuditEntry) {
    func text(_ text: String) -> String? { text.isEmpty ? nil : text }
    self.init(
      chain: entry.chain, position: entry.position, node: entry.node, at: entry.at,
      peer: entry.peer, method: entry.method, app: text(entry.bundleID),
      appEnvironment: text(entry.environment), account: text(entry.account),
      formerAccount: text(entry.formerAccount), author: text(entry.author),
      reason: text(entry.reason), subject: text(entry.subject), outcome: entry.outcome,
      previousHash: text(entry.previous), hash: entry.hash, onBehalfOf: text(entry.onBehalfOf),
      proof: text(entry.proof), tokenID: text(entry.tokenID))
  }
}

extension AuditSealEntry {
  init(_ seal: AuditSeal) {
    self.init(
      number: seal.number, at: seal.at, node: seal.node,
      chains: seal.chains.map { chain in
        AuditSealedChainEntry(
          chain: chain.chain, position: chain.head.position, hash: chain.head.hash,
          removedPosition: chain.removed.position,
          removedHash: chain.removed.hash.isEmpty ? nil : chain.removed.hash)
      }, previousHash: seal.previous.isEmpty ? nil : seal.previous, hash: seal.hash)
  }
}
