import ArgumentParser
import EntitlementDomain
import Foundation
import Programs
import Verification

/// The trusted roots, and the app and environment that payloads must be for.
struct TrustOptions: ParsableArguments {
  @Option(
    help: """
      Additional trusted root certificate: sha256:HEX, or a PEM or DER file. May be repeated.
      """)
  var trustRoot: [String] = []

  @Option(
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
        if root.hasPrefix("sha256:") {
          try anchors.trust(fingerprint: root)
        } else {
          let contents = try Data(contentsOf: URL(fileURLWithPath: root))
          try anchors.trust(certificateFile: [UInt8](contents))
        }
      } catch {
        throw CommandFailure(
          .failed, "--trust-root \(root): neither sha256:HEX nor a file of certificates")
      }
    }
    return anchors
  }
}
