import EntitlementDomain
package import EntitlementService
import EntitlementStore
package import RPCServer
import Wire

/// `entitle.v1.LinkService`: who owns what, by the caller's own decision.
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
    answer.respond(to: call, LinkAccountRequest.self) { request in
      .later {
        let receipt = try await links.link(
          request.target, to: request.accountID, in: request.scope,
          ChangeAudit(author: request.author, reason: request.reason))
        return try LinkResponse(receipt).encoded()
      }
    }
  }

  @Sendable
  private func unlinkAccount(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, UnlinkAccountRequest.self) { request in
      .later {
        let receipt = try await links.unlink(
          request.target, in: request.scope,
          ChangeAudit(author: request.author, reason: request.reason))
        return try LinkResponse(receipt).encoded()
      }
    }
  }

  @Sendable
  private func transferPurchase(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, TransferPurchaseRequest.self) { request in
      .later {
        let receipt = try await links.transfer(
          request.target, from: request.fromAccountID, to: request.toAccountID,
          in: request.scope, ChangeAudit(author: request.author, reason: request.reason))
        return try LinkResponse(receipt).encoded()
      }
    }
  }

  @Sendable
  private func mergeAccounts(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, MergeAccountsRequest.self) { request in
      .later {
        let receipt = try await links.merge(
          request.fromAccountID, into: request.intoAccountID, in: request.scope,
          ChangeAudit(author: request.author, reason: request.reason))
        return try LinkResponse(receipt).encoded()
      }
    }
  }

  @Sendable
  private func listLinks(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, ListLinksRequest.self) { request in
      .later {
        let links = try await links.links(of: request.accountID, in: request.scope)
        return try FittingMessage.encoded(links.map { AccountLink($0) }, keeping: .first) {
          ListLinksResponse(links: $0)
        }
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
        return try FittingMessage.encoded(events.map { LinkHistoryEntry($0) }, keeping: .last) {
          GetLinkHistoryResponse(events: $0)
        }
      }
    }
  }
}
