import EntitlementDomain
import Foundation
import StoreSimulator
import Verification

/// Runs scenarios, one after the other or at once: each has a store of its own. Signing keys and the
/// workers that verify are shared.
package final class ScenarioRunner: Sendable {
  private let authority: SigningAuthority
  private let pool: VerificationPool
  private let folder: URL

  /// - Throws: ``ScenarioError/Code/internalFault`` when keys or a temporary folder cannot be made.
  package init() throws(ScenarioError) {
    do {
      authority = try SigningAuthority.generate()
      folder = FileManager.default.temporaryDirectory
        .appending(path: "entitle-scenarios-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw ScenarioError(.internalFault, "a run cannot be prepared: \(error)")
    }
    // Apple's own data may be handed in too.
    var anchors = TrustAnchors.apple
    anchors.trust(authority.rootFingerprint)
    pool = VerificationPool(verifier: JWSVerifier(anchors: anchors))
  }

  /// Ends the workers and removes what the runs left.
  package func close() async {
    await pool.shutdown()
    // What cannot be removed is left to the system's cleaning of its temporary folder.
    try? FileManager.default.removeItem(at: folder)
  }

  /// Runs a scenario as it is written, and in other orders where it allows that (R3).
  ///
  /// - Throws: ``ScenarioError/Code/internalFault`` when the run itself failed.
  package func run(_ scenario: Scenario) async throws(ScenarioError) -> ScenarioReport {
    do {
      var run = ScenarioRun(signer: PayloadSigner(authority: authority))
      let written = try world(of: scenario.catalog, for: scenario)
      for step in scenario.steps { try await run.perform(step, in: written) }
      if scenario.isShuffled {
        try await compareOtherOrders(of: scenario, with: written, run: &run)
      }
      await written.close()
      return ScenarioReport(
        title: scenario.title, differences: run.differences, states: run.states)
    } catch {
      throw ScenarioError(.internalFault, "the run failed: \(error)")
    }
  }

  private func compareOtherOrders(
    of scenario: Scenario, with written: ScenarioWorld, run: inout ScenarioRun
  ) async throws {
    let catalogs = scenario.steps.compactMap { step -> Catalog? in
      if case .catalog(let catalog) = step.action { catalog } else { nil }
    }
    for order in OtherOrder.allCases {
      let world = try world(of: catalogs.last ?? scenario.catalog, for: scenario)
      try await run.perform(order, in: world, steps: scenario.steps)
      try await run.compare(
        world, with: written, steps: scenario.steps, variant: order.label)
      await world.close()
    }
  }

  private func world(of catalog: Catalog, for scenario: Scenario) throws -> ScenarioWorld {
    try ScenarioWorld(
      path: folder.appending(path: "\(UUID().uuidString).sqlite").path, catalog: catalog,
      pool: pool, now: scenario.steps.first?.at ?? 0)
  }
}
