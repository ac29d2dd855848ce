import Configuration
import Foundation
import Yams

/// The plain settings of the YAML file. The section of the App Store is left out: its list of keys
/// is nothing that the configuration library can hold. ``AppStoreSettings`` reads it.
struct SettingsSnapshot: FileConfigSnapshot {
  private let base: YAMLSnapshot

  init(
    data: RawSpan, providerName: String, parsingOptions: YAMLSnapshot.ParsingOptions
  ) throws {
    let text = data.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    guard var mapping = try Yams.compose(yaml: text)?.mapping,
      mapping[AppStoreSettings.sectionNode] != nil
    else {
      base = try YAMLSnapshot(
        data: data, providerName: providerName, parsingOptions: parsingOptions)
      return
    }
    mapping[AppStoreSettings.sectionNode] = nil
    let others = Array(try Yams.serialize(node: .mapping(mapping)).utf8)
    base = try YAMLSnapshot(
      data: others.span.bytes, providerName: providerName, parsingOptions: parsingOptions)
  }

  var providerName: String { base.providerName }
  var description: String { base.description }
  var debugDescription: String { base.debugDescription }

  func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
    try base.value(forKey: key, type: type)
  }
}
