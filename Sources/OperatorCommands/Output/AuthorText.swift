/// The author of a change in a table.
enum AuthorText {
  /// The author, with the person or tool for whom it acted: `support-tool for ada`; `-` for none.
  static func text(_ author: String?, onBehalfOf name: String?) -> String {
    guard let author else { return "-" }
    return name.map { "\(author) for \($0)" } ?? author
  }
}
