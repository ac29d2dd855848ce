import CatalogFiles
import EntitlementDomain
import StoreSimulator

/// The catalog of the run: the simulated app, without a limit of claims.
struct CatalogText: Sendable {
  let text: String
  let catalog: Catalog

  init() throws {
    let environments = "    environments: [Production, Sandbox]\n"
    text = SimulatedApp.catalogYAML.replacing(
      environments,
      with: environments + "    claims_per_day: 1000000\n    claims_per_purchase: 50\n")
    catalog = try CatalogFile.parse(text).catalog
  }
}
