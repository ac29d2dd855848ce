/// A rule that confers entitlements on customers who got the app before its business model changed
/// (R33–R39).
package struct GrandfatheringRule: Hashable, Sendable {
  package var id: GrandfatheringRuleID
  package var bundleID: BundleID
  package var entitlements: [EntitlementID]
  /// The first version with the new business model, by platform. The rule applies to customers with
  /// a lower original version (R33). A platform may have no threshold.
  package var thresholds: [AppPlatform: AppVersion]
  /// Whether only the leading component of versions is compared (R34).
  package var comparesLeadingComponentOnly: Bool
  /// The rule applies to customers who got the app before this moment (R37). Nil when only the
  /// version decides.
  package var cutoff: Milliseconds?
  package var conflictPolicy: ConflictPolicy
  /// The values that replace Apple's constants outside Production. Nil when the rule is not
  /// evaluated there (R35).
  package var simulated: Simulated?

  /// The policy when version and date disagree (R37). Raw values are the words of the catalog file.
  package enum ConflictPolicy: String, Hashable, Sendable, CaseIterable {
    case grantAndFlag = "grant_and_flag"
    case preferDate = "prefer_date"
    case preferVersion = "prefer_version"
  }

  /// An original version and date that apply to all customers, for tests (R35).
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

/// The platform of the original purchase, `originalPlatform`. Raw values are Apple's.
package enum AppPlatform: String, Hashable, Sendable, CaseIterable {
  case iOS
  case macOS
  case tvOS
  case visionOS
}
