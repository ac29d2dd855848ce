/// Seeds of ``JSONProbe``: payloads, and documents with each kind of value.
enum JSONCorpus {
  static func seeds(_ customers: [CorpusCustomer]) -> [FuzzSeed] {
    var seeds: [FuzzSeed] = []
    for customer in customers {
      seeds += customer.payloads
      if let notification = customer.notification {
        seeds.append(
          FuzzSeed(notification.name, Array(notification.bytes.prefix { $0 != UInt8(ascii: "\n") }))
        )
      }
    }
    seeds += texts.map { FuzzSeed($0.name, Array($0.text.utf8)) }
    return seeds.unique
  }

  private static let texts: [(name: String, text: String)] = [
    (
      "values", #"{"a":[true,false,null,-0,1,2.5,3e4,5E-6,7.0e+8,""],"b":{},"c":[]," ":{"d":[{}]}}"#
    ),
    ("escapes", #"{"\u0061\"\\\/\b\f\n\r\t":"\ud83d\ude00\u00e9","é":"😀"}"#),
    ("white-space", " \t\r\n{ \"a\" :\n[ 1 , 2 ] , \"b\" : null }\n"),
    ("least-and-most", #"{"signedDate":-9223372036854775808,"purchaseDate":9223372036854775807}"#),
    ("out-of-range", #"{"signedDate":9223372036854775808,"purchaseDate":1e3,"expiresDate":1.0}"#),
    ("no-object", #"[{"transactionId":"1"},"text"]"#),
    ("nested", String(repeating: "[", count: 64) + String(repeating: "]", count: 64)),
    ("nested-too-deep", String(repeating: #"{"a":"#, count: 65)),
    ("many-members", "{" + (0..<70).map { "\"m\($0)\":\($0)" }.joined(separator: ",") + "}"),
  ]
}
