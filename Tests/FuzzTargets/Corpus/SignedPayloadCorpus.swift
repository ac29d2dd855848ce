import Cryptography
import StoreSimulator

/// Seeds of ``SignedPayloadProbe`` in each of the forms of ``FuzzSigner/complete(_:)``.
enum SignedPayloadCorpus {
  static func seeds(_ customers: [CorpusCustomer]) -> [FuzzSeed] {
    var seeds: [FuzzSeed] = []
    for customer in customers {
      seeds += customer.payloads.prefix(1)
      if let notification = customer.notification { seeds.append(notification) }
    }
    // One customer has every kind of payload, so the other seeds use one customer.
    let kinds = customers.first { $0.payloads.count == 3 }?.payloads ?? []
    seeds += kinds
    for payload in kinds {
      seeds.append(FuzzSeed("\(payload.name)-signed", FuzzSigner.shared.sign(payload.bytes)))
      seeds.append(FuzzSeed("\(payload.name)-without-header", withoutHeader(payload.bytes)))
    }
    if let payload = kinds.first?.bytes {
      seeds += headers.map { name, header in
        FuzzSeed("header-\(name)", under(header, payload: payload))
      }
    }
    return (seeds + short).unique
  }

  /// Parts of each length that base64 treats differently. The splitter accepts them although they
  /// are wrong, and they take the fuzzer little time.
  private static let short = [
    FuzzSeed("short-1", Array("e30.e30.AA".utf8)),
    FuzzSeed("short-2", Array("e30.eyJhIjoxfQ.AAA".utf8)),
    FuzzSeed("short-3", Array("eyJhbGciOiJFUzI1NiJ9.eyAgfQ.AAAA".utf8)),
  ]

  private static func withoutHeader(_ payload: [UInt8]) -> [UInt8] {
    Array(FuzzSigner.shared.sign(payload).drop { $0 != UInt8(ascii: ".") })
  }

  /// A signature of another header.
  private static func under(_ header: String, payload: [UInt8]) -> [UInt8] {
    Base64Form.urlWithoutPadding.encode(Array(header.utf8)) + withoutHeader(payload)
  }

  /// Headers that are not from the App Store. Xcode's has a `kid` and one certificate.
  private static let headers: [(name: String, json: String)] = {
    let authority = FuzzSigner.shared.authority
    let leaf = base64(authority.leaf.certificate)
    let intermediate = base64(authority.intermediate.certificate)
    let root = base64(authority.root.certificate)
    return [
      ("xcode", #"{"kid":"Apple_Xcode_Key","typ":"JWT","alg":"ES256","x5c":["\#(root)"]}"#),
      ("two-certificates", #"{"alg":"ES256","x5c":["\#(leaf)","\#(intermediate)"]}"#),
      ("turned-round", #"{"alg":"ES256","x5c":["\#(root)","\#(intermediate)","\#(leaf)"]}"#),
      ("none", #"{"alg":"none"}"#),
      ("critical", #"{"alg":"ES256","crit":["b64"],"b64":false,"x5c":[]}"#),
      ("no-certificate", #"{"alg":"ES256","x5c":["MAA=","MAA=","MAA="]}"#),
    ]
  }()

  private static func base64(_ bytes: [UInt8]) -> String {
    String(decoding: Base64Form.standard.encode(bytes), as: UTF8.self)
  }
}

extension [FuzzSeed] {
  /// The first seed of each name.
  var unique: [FuzzSeed] {
    var names: Set<String> = []
    return filter { names.insert($0.name).inserted }
  }
}
