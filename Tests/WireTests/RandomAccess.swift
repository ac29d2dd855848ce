import EntitlementDomain
import TestSupport

@testable import Wire

extension CallerLimits {
  static func random(using generator: inout SeededRandom) -> CallerLimits {
    func limit() -> Int? {
      maybe(using: &generator) { Int(Int32.random(in: .min ... .max, using: &$0)) }
    }
    return CallerLimits(
      readsPerSecond: limit(), expensiveReadsPerSecond: limit(), submissionsPerSecond: limit(),
      inFlight: limit(), connections: limit())
  }
}

extension PermittedApp {
  static func random(using generator: inout SeededRandom) -> PermittedApp {
    PermittedApp(
      bundleID: .random(using: &generator),
      environments: many(using: &generator) {
        StoreEnvironment.allCases.randomElement(using: &$0)!
      })
  }
}

extension WhoAmIResponse {
  static func random(using generator: inout SeededRandom) -> WhoAmIResponse {
    WhoAmIResponse(
      name: randomText(using: &generator),
      proof: maybe(using: &generator) { CallerProof.allCases.randomElement(using: &$0)! },
      tokenID: maybe(using: &generator, randomText),
      tokenExpires: maybe(using: &generator) { .random(using: &$0) },
      roles: many(using: &generator, randomText),
      permissions: many(using: &generator) { Permission.allCases.randomElement(using: &$0)! },
      hasAllApps: .random(using: &generator), apps: many(using: &generator, PermittedApp.random),
      limits: maybe(using: &generator, CallerLimits.random))
  }
}

extension CallerEntry {
  static func random(using generator: inout SeededRandom) -> CallerEntry {
    CallerEntry(
      name: randomText(using: &generator), roles: many(using: &generator, randomText),
      permissions: many(using: &generator) { Permission.allCases.randomElement(using: &$0)! },
      hasAllApps: .random(using: &generator), apps: many(using: &generator, PermittedApp.random),
      tokens: many(using: &generator) { generator in
        CallerToken(
          id: randomText(using: &generator),
          expires: maybe(using: &generator) { .random(using: &$0) })
      }, certificates: many(using: &generator, randomText),
      users: many(using: &generator, randomText),
      limits: maybe(using: &generator, CallerLimits.random))
  }
}

extension CredentialsResponse {
  static func random(using generator: inout SeededRandom) -> CredentialsResponse {
    CredentialsResponse(
      isEnabled: .random(using: &generator), digest: maybe(using: &generator, randomText),
      inForceSince: .random(using: &generator),
      callers: many(using: &generator, CallerEntry.random),
      warnings: many(using: &generator, FileIssue.random),
      lastAttempt: maybe(using: &generator) { generator in
        CredentialsAttempt(
          at: .random(using: &generator), isValid: .random(using: &generator),
          digest: maybe(using: &generator, randomText),
          issues: many(using: &generator, FileIssue.random),
          failure: maybe(using: &generator, randomText))
      })
  }
}
