import EntitlementDomain
import Foundation
import StoreSimulator
import Verification

/// Runs scenarios, sequentially or concurrently. Each has its own store; signing keys and the
/// verification pool are shared.
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
    // A scenario may also submit payloads that Apple signed.
    var anchors = TrustAnchors.apple
    anchors.trust(authority.rootFingerprint, for: TrustAnchor.allEnvironments)
    pool = VerificationPool(verifier: JWSVerifier(anchors: anchors))
  }

  /// Shuts down the verification pool and removes the temporary folder.
  package func close() async {
    await pool.shutdown()
    // If this fails, the system cleans up its temporary folder.
    try? FileManager.default.removeItem(at: folder)
  }

  /// Runs a scenario as it is written, and in other orders where it allows that (R3).
  ///
  /// - Parameter orders: the other orders.
  /// - Throws: ``ScenarioError/Code/internalFault`` when the run itself failed.
  package func run(
    _ scenario: Scenario, in orders: [ReplayOrder] = ReplayOrder.standard
  ) async throws(ScenarioError) -> ScenarioReport {
    do {
      var run = ScenarioRun(signer: PayloadSigner(authority: authority))
      let written = try service(of: scenario.catalog, for: scenario)
      for step in scenario.steps { try await run.perform(step, in: written) }
      if scenario.isShuffled {
        try await compareReplayOrders(of: scenario, in: orders, with: written, run: &run)
      }
      await written.close()
      return ScenarioReport(
        title: scenario.title, differences: run.differences, states: run.states)
    } catch {
      throw ScenarioError(.internalFault, "the run failed: \(error)")
    }
  }

  private func compareReplayOrders(
    of scenario: Scenario, in orders: [ReplayOrder], with written: ServiceInstance,
    run: inout ScenarioRun
  ) async throws {
    let catalogs = scenario.steps.compactMap { step -> Catalog? in
      if case .catalog(let catalog) = step.action { catalog } else { nil }
    }
    for order in orders {
      let service = try service(of: catalogs.last ?? scenario.catalog, for: scenario)
      try await run.perform(order, in: service, steps: scenario.steps)
      try await run.compare(
        service, with: written, steps: scenario.steps, variant: order.label)
      await service.close()
    }
  }

  private func service(of catalog: Catalog, for scenario: Scenario) throws -> ServiceInstance {
    try ServiceInstance(
      path: folder.appending(path: "\(UUID().uuidString).sqlite").path, catalog: catalog,
      pool: pool, now: scenario.steps.first?.at ?? 0)
  }
}

/// The result of running a scenario.
package struct ScenarioReport: Sendable {
  package let title: String
  /// In the order in which they were found; empty when the scenario passed.
  package let differences: [Difference]
  /// The actual state of each `state` step, in the order of the file.
  package let states: [ActualState]

  package var hasPassed: Bool { differences.isEmpty }
}
