import EntitlementDomain
package import EntitlementService
import EntitlementStore
package import RPCServer
import Traces
import Wire

/// `entitle.v1.LinkService`: explicit links between accounts and purchases.
package struct LinkEndpoint: Sendable {
  private let links: LinkService

  package init(links: LinkService) {
    self.links = links
  }

  package func register(in router: inout RPCRouter) {
    router.unary(WireMethods.resolveAccount, resolveAccount)
    router.unary(WireMethods.linkAccount, linkAccount)
    router.unary(WireMethods.unlinkAccount, unlinkAccount)
    router.unary(WireMethods.transferPurchase, transferPurchase)
    router.unary(WireMethods.mergeAccounts, mergeAccounts)
    router.unary(WireMethods.listLinks, listLinks)
    router.unary(WireMethods.bindAccountToken, bindAccountToken)
    router.unary(WireMethods.listAccountTokens, listAccountTokens)
    router.unary(WireMethods.getLinkHistory, getLinkHistory)
  }

  @Sendable
  private func resolveAccount(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, ResolveAccountRequest.self) { request in
      .later {
        let found = try await links.resolve(request.customer, in: request.scope)
        return try ResolveAccountResponse(
          subject: found.subject.map { SubmittedCustomer.Subject($0) }, revision: found.revision
        ).encoded()
      }
    }
  }

  @Sendable
  private func linkAccount(_ call: RPCCall, _ answer: RPCAnswer) {
    let caller = call.auditCaller
    answer.respond(to: call, LinkAccountRequest.self) { request in
      .later {
        let receipt = try await links.link(
          request.target, to: request.accountID, in: request.scope,
          ChangeAudit(onBehalfOf: request.onBehalfOf, reason: request.reason, caller: caller))
        return try LinkResponse(receipt).encoded()
      }
    }
  }

  @Sendable
  private func unlinkAccount(_ call: RPCCall, _ answer: RPCAnswer) {
    let caller = call.auditCaller
    answer.respond(to: call, UnlinkAccountRequest.self) { request in
      .later {
        let receipt = try await links.unlink(
          request.target, in: request.scope,
          ChangeAudit(onBehalfOf: request.onBehalfOf, reason: request.reason, caller: caller))
        return try LinkResponse(receipt).encoded()
      }
    }
  }

  @Sendable
  private func transferPurchase(_ call: RPCCall, _ answer: RPCAnswer) {
    let caller = call.auditCaller
    answer.respond(to: call, TransferPurchaseRequest.self) { request in
      .later {
        let receipt = try await links.transfer(
          request.target, from: request.fromAccountID, to: request.toAccountID,
          in: request.scope,
          ChangeAudit(onBehalfOf: request.onBehalfOf, reason: request.reason, caller: caller))
        return try LinkResponse(receipt).encoded()
      }
    }
  }

  @Sendable
  private func mergeAccounts(_ call: RPCCall, _ answer: RPCAnswer) {
    let caller = call.auditCaller
    answer.respond(to: call, MergeAccountsRequest.self) { request in
      .later {
        let receipt = try await links.merge(
          request.fromAccountID, into: request.intoAccountID, in: request.scope,
          ChangeAudit(onBehalfOf: request.onBehalfOf, reason: request.reason, caller: caller))
        return try LinkResponse(receipt).encoded()
      }
    }
  }

  @Sendable
  private func listLinks(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, ListLinksRequest.self) { request in
      .later {
        let links = try await links.links(of: request.accountID, in: request.scope)
        return try TruncatedList.encoded(links.map { AccountLink($0) }, keeping: .first) {
          ListLinksResponse(links: $0)
        }
      }
    }
  }

  @Sendable
  private func bindAccountToken(_ call: RPCCall, _ answer: RPCAnswer) {
    let caller = call.auditCaller
    answer.respond(to: call, BindAccountTokenRequest.self) { request in
      .later {
        let receipt = try await links.bind(
          request.appAccountToken, to: request.accountID, in: request.scope,
          ChangeAudit(onBehalfOf: request.onBehalfOf, reason: request.reason, caller: caller))
        return try LinkResponse(receipt).encoded()
      }
    }
  }

  @Sendable
  private func listAccountTokens(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, ListAccountTokensRequest.self) { request in
      .later {
        let size = request.effectivePageSize
        let tokens = try await links.tokens(
          of: request.accountID, in: request.scope,
          after: request.pageToken.map { AppAccountToken($0) }, limit: size)
        return try ListAccountTokensResponse(
          tokens: tokens.filter { $0.token.ofCustomer != nil }.map { AccountToken($0) },
          nextPageToken: tokens.count < size ? nil : tokens.last?.token.rawValue
        ).encoded()
      }
    }
  }

  @Sendable
  private func getLinkHistory(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, GetLinkHistoryRequest.self) { request in
      .later {
        let events =
          switch request.subject {
          case .target(let target): try await links.history(of: target, in: request.scope)
          case .account(let account): try await links.history(of: account, in: request.scope)
          }
        return try TruncatedList.encoded(events.map { LinkHistoryEntry($0) }, keeping: .last) {
          GetLinkHistoryResponse(events: $0)
        }
      }
    }
  }
}

// MARK: Messages

extension LinkResponse {
  /// Contains the first ``LinkLimits/receiptEntries`` targets and customers. If there are more
  /// customers, accounts come before chains; otherwise they keep the order of the feed.
  init(_ receipt: LinkReceipt) {
    var customers = receipt.customers
    if customers.count > LinkLimits.receiptEntries {
      customers = customers.filter(\.isAccount) + customers.filter { !$0.isAccount }
    }
    self.init(
      isChanged: receipt.isChanged,
      targets: Array(receipt.targets.prefix(LinkLimits.receiptEntries)),
      customers: customers.prefix(LinkLimits.receiptEntries).map { SubmittedCustomer($0) })
  }
}

extension CustomerRevision {
  fileprivate var isAccount: Bool {
    if case .account = subject { true } else { false }
  }
}

extension AccountLink {
  init(_ link: LinkedTarget) {
    self.init(
      target: link.target, since: link.since, reason: link.reason, isUnsigned: link.isUnsigned,
      isContested: link.isContested)
  }
}

extension AccountToken {
  init(_ known: KnownToken) {
    self.init(
      appAccountToken: known.token, state: known.row.state, accountID: known.row.account,
      author: known.row.author, reason: known.row.note, since: known.row.since,
      onBehalfOf: known.row.onBehalfOf)
  }
}

extension LinkHistoryEntry {
  init(_ step: TargetLinkEvent) {
    let event = step.event
    self.init(
      target: step.target, at: event.at, fromAccountID: event.from, toAccountID: event.to,
      isFromDeleted: event.isFromErased, isToDeleted: event.isToErased, reason: event.reason,
      author: event.author?.name, note: event.note, onBehalfOf: event.onBehalfOf,
      tokenID: event.author.flatMap { $0.tokenID.isEmpty ? nil : $0.tokenID },
      traceID: event.traceID.flatMap { TraceID(bytes: $0)?.hexadecimal })
  }
}

extension CustomerHistoryEntry {
  init(_ entry: CustomerHistory.Entry) {
    let occurrence: Occurrence =
      switch entry.occurrence {
      case .link(let step): .link(LinkHistoryEntry(step))
      case .grant(let grant): .grant(grant)
      case .grantWithdrawal(let grant): .grantWithdrawal(grant)
      case .notification(let record): .notification(NotificationEntry(record))
      }
    self.init(at: entry.at, occurrence: occurrence)
  }
}

extension NotificationEntry {
  init(_ record: NotificationRecord) {
    self.init(
      notificationUUID: record.uuid, type: record.type, subtype: record.subtype,
      signedDate: record.signedDate)
  }
}

extension UnlinkedChainEntry {
  init(_ chain: UnlinkedChain) {
    self.init(
      originalTransactionID: chain.chain, revision: chain.revision, changedAt: chain.changedAt)
  }
}
