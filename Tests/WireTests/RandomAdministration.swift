import EntitlementDomain
import TestSupport

@testable import Wire

extension Explanation {
  static func random(using generator: inout SeededRandom) -> Explanation {
    Explanation(
      state: .random(using: &generator),
      entitlements: many(using: &generator) { generator in
        EntitlementExplanation(
          entitlementID: .random(using: &generator), isConferred: .random(using: &generator),
          reasoning: .random(using: &generator))
      },
      groups: many(using: &generator) { generator in
        GroupExplanation(
          groupID: .random(using: &generator),
          status: DetailedStatus.allCases.randomElement(using: &generator)!,
          reasoning: .random(using: &generator))
      },
      omitted: maybe(using: &generator) { .random(using: &$0) })
  }
}

extension Reasoning {
  static func random(using generator: inout SeededRandom) -> Reasoning {
    Reasoning(
      decision: .random(using: &generator),
      considered: many(using: &generator) { generator in
        ConsideredItem(
          kind: ConsideredItem.Kind.allCases.randomElement(using: &generator)!,
          identifier: randomText(using: &generator),
          productID: maybe(using: &generator) { .random(using: &$0) },
          statedAt: maybe(using: &generator) { .random(using: &$0) },
          isDecisive: .random(using: &generator), decision: .random(using: &generator))
      },
      changes: many(using: &generator) { generator in
        ExpectedChange(
          at: maybe(using: &generator) { .random(using: &$0) },
          decision: .random(using: &generator))
      },
      consideredOmitted: .random(in: 0...100_000, using: &generator),
      changesCompleteUntil: maybe(using: &generator) { .random(using: &$0) })
  }
}

extension ExplanationOmissions {
  static func random(using generator: inout SeededRandom) -> ExplanationOmissions {
    func count() -> Int { .random(in: 0...100_000, using: &generator) }
    return ExplanationOmissions(
      entitlements: count(), groups: count(), products: count(), stateEntitlements: count(),
      sources: count(), grandfathering: count())
  }
}

extension Decision {
  static func random(using generator: inout SeededRandom) -> Decision {
    Decision(
      rule: Rule(Int(Int32.random(in: .min ... .max, using: &generator))),
      sentence: randomText(using: &generator))
  }
}

extension AddGrantRequest {
  static func random(using generator: inout SeededRandom) -> AddGrantRequest {
    AddGrantRequest(
      scope: .random(using: &generator), accountID: .random(using: &generator),
      entitlementID: .random(using: &generator),
      starts: maybe(using: &generator) { .random(using: &$0) },
      expires: maybe(using: &generator) { .random(using: &$0) },
      reason: randomText(using: &generator), onBehalfOf: randomText(using: &generator))
  }
}

extension Grant {
  static func random(using generator: inout SeededRandom) -> Grant {
    Grant(
      id: .random(using: &generator), scope: .random(using: &generator),
      accountID: .random(using: &generator), entitlementID: .random(using: &generator),
      starts: .random(using: &generator),
      expires: maybe(using: &generator) { .random(using: &$0) },
      reason: randomText(using: &generator), author: randomText(using: &generator),
      onBehalfOf: maybe(using: &generator, randomText), createdAt: .random(using: &generator),
      withdrawal: maybe(using: &generator) { generator in
        GrantWithdrawal(
          at: .random(using: &generator), author: randomText(using: &generator),
          onBehalfOf: maybe(using: &generator, randomText), reason: randomText(using: &generator))
      })
  }
}

extension FeedEvent {
  static func random(using generator: inout SeededRandom) -> FeedEvent {
    FeedEvent(
      kind: FeedEventKind.allCases.randomElement(using: &generator)!,
      notificationUUID: .random(using: &generator),
      originalTransactionID: maybe(using: &generator) { .random(using: &$0) },
      transactionID: maybe(using: &generator) { .random(using: &$0) },
      deadline: maybe(using: &generator) { .random(using: &$0) },
      refetchReason: maybe(using: &generator) {
        RefetchReason.allCases.randomElement(using: &$0)!
      },
      detail: maybe(using: &generator, randomText))
  }
}

extension ChangeEntry {
  static func random(using generator: inout SeededRandom) -> ChangeEntry {
    ChangeEntry(
      sequence: .random(in: .min ... .max, using: &generator), scope: .random(using: &generator),
      subject: maybe(using: &generator) { generator in
        Bool.random(using: &generator)
          ? .account(.random(using: &generator)) : .unlinkedChain(.random(using: &generator))
      },
      committedAt: .random(using: &generator), hasFacts: .random(using: &generator),
      isLinked: .random(using: &generator), isUnlinked: .random(using: &generator),
      hasGrants: .random(using: &generator),
      events: many(using: &generator, FeedEvent.random),
      isMerged: .random(using: &generator), isDeleted: .random(using: &generator))
  }
}

extension FileIssue {
  static func random(using generator: inout SeededRandom) -> FileIssue {
    FileIssue(
      severity: Bool.random(using: &generator) ? .error : .warning,
      line: Int(Int32.random(in: .min ... .max, using: &generator)),
      column: Int(Int32.random(in: .min ... .max, using: &generator)),
      field: randomText(using: &generator), message: randomText(using: &generator))
  }
}

extension CatalogResponse {
  static func random(using generator: inout SeededRandom) -> CatalogResponse {
    func count() -> Int { Int(Int32.random(in: .min ... .max, using: &generator)) }
    return CatalogResponse(
      digest: randomText(using: &generator), inForceSince: .random(using: &generator),
      appCount: count(), productCount: count(), entitlementCount: count(),
      grandfatheringRuleCount: count(),
      warnings: many(using: &generator, FileIssue.random),
      lastAttempt: maybe(using: &generator) { generator in
        CatalogAttempt(
          at: .random(using: &generator), isValid: .random(using: &generator),
          digest: maybe(using: &generator, randomText),
          issues: many(using: &generator, FileIssue.random),
          failure: maybe(using: &generator, randomText))
      })
  }
}
