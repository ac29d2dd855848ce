import Foundation

extension AppleSamples {
  /// A receipt, with what the manifest says of it.
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
    /// What was hashed for the signature: `sha1` or `sha256`.
    package let digest: String
    package let fields: Fields
    /// How many purchases it has; nil: none.
    package let purchases: Int?

    enum CodingKeys: String, CodingKey {
      case file, digest, fields
      case purchases = "in_app_count"
    }

    package var description: String { file }

    /// Where it lies.
    package var path: String { AppleSamples.path(of: file) }

    /// The file, which is DER.
    package func contents() throws -> [UInt8] {
      Array(try Data(contentsOf: URL(filePath: path)))
    }
  }

  /// Empty where the samples are absent.
  package static let receipts: [Receipt] = {
    guard let folder, let manifest = try? Data(contentsOf: folder.appending(path: "manifest.json"))
    else { return [] }
    let entries = (try? JSONDecoder().decode([ReceiptEntry].self, from: manifest)) ?? []
    return entries.compactMap(\.receipt)
  }()

  /// An entry of the manifest, which may be of something else.
  private struct ReceiptEntry: Decodable {
    let receipt: Receipt?

    enum CodingKeys: String, CodingKey { case kind }

    init(from decoder: any Decoder) throws {
      let kind = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .kind)
      receipt = kind == "receipt" ? try Receipt(from: decoder) : nil
    }
  }
}
