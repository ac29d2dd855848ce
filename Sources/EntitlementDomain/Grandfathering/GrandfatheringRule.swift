/// Confers entitlements on those who got the app before its business model changed (§6, R33–R39).
package struct GrandfatheringRule: Hashable, Sendable {
  package var id: GrandfatheringRuleID
  package var bundleID: BundleID
  package var entitlements: [EntitlementID]
  /// The first version of the new model, by platform: those whose original version is lower came
  /// before (R33). A platform that is not named has no threshold.
  package var thresholds: [AppPlatform: AppVersion]
  /// Only the leading component is compared (R34).
  package var comparesLeadingComponentOnly: Bool
  /// Those who got the app before this moment came before (R37); nil: the version alone decides.
  package var cutoff: Milliseconds?
  package var conflictPolicy: ConflictPolicy
  /// What counts in Sandbox instead of Apple's constants; nil: the rule is not evaluated there
  /// (R35).
  package var simulated: Simulated?

  /// What decides when version and date disagree (R37). Raw values are those of the catalog file.
  package enum ConflictPolicy: String, Hashable, Sendable, CaseIterable {
    case grantAndFlag = "grant_and_flag"
    case preferDate = "prefer_date"
    case preferVersion = "prefer_version"
  }

  /// An original version and date for everybody, to test with (R35).
  package struct Simulated: Hashable, Sendable {
    package var originalVersion: AppVersion?
    package var originalPurchaseDate: Milliseconds?

    package init(originalVersion: AppVersion?, originalPurchaseDate: Milliseconds?) {
      self.originalVersion = originalVersion
      self.originalPurchaseDate = originalPurchaseDate
    }
  }

  package init(
    id: GrandfatheringRuleID, bundleID: BundleID, entitlements: [EntitlementID],
    thresholds: [AppPlatform: AppVersion] = [:], comparesLeadingComponentOnly: Bool = false,
    cutoff: Milliseconds? = nil, conflictPolicy: ConflictPolicy = .grantAndFlag,
    simulated: Simulated? = nil
  ) {
    self.id = id
    self.bundleID = bundleID
    self.entitlements = entitlements
    self.thresholds = thresholds
    self.comparesLeadingComponentOnly = comparesLeadingComponentOnly
    self.cutoff = cutoff
    self.conflictPolicy = conflictPolicy
    self.simulated = simulated
  }
}

/// Where the app was first got: `originalPlatform`. Raw values are Apple's.
package enum AppPlatform: String, Hashable, Sendable, CaseIterable {
  case iOS
  case macOS
  case tvOS
  case visionOS
}
