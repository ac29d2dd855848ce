import EntitlementDomain
import EntitlementService
import EntitlementStore
import SQLiteStore
import StoreSimulator
import TestSupport
import Testing
import Verification

// Skipped without the folder of samples. APPLE_SIGNED_SAMPLES sets another folder.
@Suite(
  "Real receipts of the App Store, submitted",
  .enabled(if: AppleSamples.arePresent, "the folder of Apple-signed samples is absent"))
struct AppleReceiptTests {
  @Test(
    "A receipt has one fact for the app and one for each purchase",
    arguments: AppleSamples.receipts)
  func submitted(sample: AppleSamples.Receipt) async throws {
    let receipt = try sample.contents()
    let catalog = SimulatedApp.catalogYAML.replacing(
      "bundle_id: com.example.scribe", with: "bundle_id: \(sample.fields.bundleId)")
    try await ServiceBench.run(catalog: catalog) { bench async throws in
      let result = try await bench.service.submit(
        ReceiptSubmission(receipt: receipt, accountID: "anna"))
      #expect(result.verdict == .ok, "\(result.detail ?? "")")
      #expect(result.receipt?.receiptType == sample.fields.receiptType)
      #expect(result.items.count == 1 + (sample.purchases ?? 0))
      #expect(result.items.allSatisfy { $0.verdict == .ok && $0.disposition == .added })
      #expect(result.customers.count == 1)
      let scope = AppScope(
        bundleID: BundleID(sample.fields.bundleId),
        environment: try #require(result.receipt?.environment))
      let known = try await bench.store.customer(.account("anna"), in: scope)
      #expect(known.record.facts.count == result.items.count)
    }
  }
}
