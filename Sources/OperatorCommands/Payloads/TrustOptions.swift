import ArgumentParser
import EntitlementDomain
import Foundation
import Programs
import Verification

/// The trusted roots, and the app and environment that payloads must be for.
struct TrustOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Additional trusted root certificate: sha256:HEX, or a PEM or DER file. With ENVIRONMENT= \
      before it for payloads of production, sandbox, xcode or local-testing, otherwise for all but \
      production. May be repeated.
      """, valueName: "[environment=]root"))
  var trustRoot: [String] = []

  @Option(
    name: .app,
    help: "The app that payloads must belong to, a renewal info by its chain. Default: any.")
  var bundleID: String?

  @Option(help: "production, sandbox, xcode or local-testing. Default: any.")
  var environment: EnvironmentName?

  @Option(help: "The app's Apple id that payloads of Production must carry. Default: any.")
  var appAppleID: Int64?

  var expectedBundleID: BundleID? {
    bundleID.map { BundleID($0) }
  }

  var policy: VerificationPolicy {
    VerificationPolicy(
      expectingBundleID: expectedBundleID, environment: environment?.environment,
      appAppleID: appAppleID)
  }

  /// The same policy for any app.
  var policyForAnyApp: VerificationPolicy {
    VerificationPolicy(
      expectingBundleID: nil, environment: environment?.environment, appAppleID: nil)
  }

  func anchors() throws -> TrustAnchors {
    var anchors = TrustAnchors.apple
    for root in trustRoot {
      do {
        try anchors.trust(setting: root) {
          [UInt8](try Data(contentsOf: URL(fileURLWithPath: $0)))
        }
      } catch {
        throw CommandFailure(.failed, "--trust-root \(root): \(error)")
      }
    }
    return anchors
  }
}
