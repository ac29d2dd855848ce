import Foundation

extension AppleSamples {
  /// A receipt with its entry in the manifest.
  package struct Receipt: Decodable, Sendable, CustomStringConvertible {
    package struct Fields: Decodable, Sendable {
      package let receiptType: String
      package let bundleId: String
      package let applicationVersion: String
      package let originalApplicationVersion: String
      package let receiptCreationDate: String
      package let originalPurchaseDate: String
    }

    package let file: String
    /// The digest of the signature: `sha1` or `sha256`.
    package let digest: String
    package let fields: Fields
    /// The number of purchases; nil without any.
    package let purchases: Int?

    enum CodingKeys: String, CodingKey {
      case file, digest, fields
      case purchases = "in_app_count"
    }

    package var description: String { file }

    /// The path of the file.
    package var path: String { AppleSamples.path(of: file) }

    /// The content of the file, in DER.
    package func contents() throws -> [UInt8] {
      Array(try Data(contentsOf: URL(filePath: path)))
    }
  }

  /// Empty when the samples are absent.
  package static let receipts: [Receipt] = {
    guard let folder, let manifest = try? Data(contentsOf: folder.appending(path: "manifest.json"))
    else { return [] }
    let entries = (try? JSONDecoder().decode([ReceiptEntry].self, from: manifest)) ?? []
    return entries.compactMap(\.receipt)
  }()

  /// An entry of the manifest, of a receipt or another kind.
  private struct ReceiptEntry: Decodable {
    let receipt: Receipt?

    enum CodingKeys: String, CodingKey { case kind }

    init(from decoder: any Decoder) throws {
      let kind = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .kind)
      receipt = kind == "receipt" ? try Receipt(from: decoder) : nil
    }
  }
}
