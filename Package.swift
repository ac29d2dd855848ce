// swift-tools-version: 6.2
import PackageDescription

let nio = (
  core: Target.Dependency.product(name: "NIOCore", package: "swift-nio"),
  posix: Target.Dependency.product(name: "NIOPosix", package: "swift-nio"),
  http: Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio"),
  embedded: Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio"),
  tls: Target.Dependency.product(name: "NIOTLS", package: "swift-nio"),
  ssl: Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
)
let argumentParser = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let tracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")

let package = Package(
  name: "entitle",
  products: [
    .executable(name: "entitled", targets: ["entitled"]),
    .executable(name: "entitlectl", targets: ["entitlectl"]),
    .executable(name: "entitle-load", targets: ["entitle-load"]),
    .executable(name: "storesim", targets: ["storesim"]),
    // For programs that call the service.
    .library(name: "RPCClient", targets: ["RPCClient"]),
  ],
  // Exact, as there is no lock file: what was tested is what a clone builds. See CONTRIBUTING.md.
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", exact: "1.7.3"),
    .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(
      url: "https://github.com/apple/swift-configuration", exact: "1.4.0", traits: ["YAML"]),
    .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
    // What those depend on: see transitiveProducts below.
    .package(url: "https://github.com/apple/swift-algorithms", exact: "1.2.1"),
    .package(url: "https://github.com/apple/swift-asn1", exact: "1.7.4"),
    .package(url: "https://github.com/apple/swift-async-algorithms", exact: "1.1.4"),
    .package(url: "https://github.com/apple/swift-atomics", exact: "1.3.0"),
    .package(url: "https://github.com/apple/swift-certificates", exact: "1.21.1"),
    .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
    .package(url: "https://github.com/apple/swift-http-structured-headers", exact: "1.7.0"),
    .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
    .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
    .package(url: "https://github.com/apple/swift-nio-http2", exact: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-transport-services", exact: "1.28.0"),
    .package(url: "https://github.com/apple/swift-numerics", exact: "1.1.1"),
    .package(url: "https://github.com/apple/swift-service-context", exact: "1.5.1"),
  ],
  targets: [
    // C libraries and the messages generated from Protos/. Each is imported by one Swift target.
    .systemLibrary(
      name: "CProtobufC", pkgConfig: "libprotobuf-c", providers: [.apt(["libprotobuf-c-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    .target(name: "CEntitleMessages", dependencies: ["CProtobufC"]),

    // The rules: facts, catalog and evaluation, without any I/O.
    .target(name: "EntitlementDomain"),

    // What the rules are fed with: payloads that the App Store signed, and catalog files.
    .target(name: "JSON"),
    .target(name: "AppStorePayloads", dependencies: ["EntitlementDomain", "JSON"]),
    .target(name: "YAMLFiles", dependencies: ["EntitlementDomain", "Yams"]),
    .target(name: "CatalogFiles", dependencies: ["EntitlementDomain", "YAMLFiles"]),

    // A lock that ThreadSanitizer understands, and threads for computations.
    .target(name: "Locks"),
    .target(
      name: "Workers",
      dependencies: ["Locks", .product(name: "DequeModule", package: "swift-collections")]),

    // What Apple signed: certificates, signatures and their verdicts.
    .target(name: "Cryptography", dependencies: ["COpenSSL", "Locks"]),
    .target(
      name: "Verification",
      dependencies: [
        "AppStorePayloads", "Cryptography", "EntitlementDomain", "JSON", "Locks", "Workers",
      ]),

    // Requests to other servers.
    .target(
      name: "OutboundHTTP",
      dependencies: [
        "Framing", nio.core, nio.http, nio.posix,
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
      ]),
    .target(name: "CertificateStatus", dependencies: ["OutboundHTTP", "Verification", nio.http]),
    .target(
      name: "AppStoreServerAPI",
      dependencies: [
        "AppStorePayloads", "Cryptography", "EntitlementDomain", "Framing", "OutboundHTTP",
        "Traces", tracing, nio.core, nio.http,
      ]),

    // The time of a simulator.
    .target(
      name: "DevelopmentClock",
      dependencies: ["EntitlementDomain", "OutboundHTTP", logging, nio.core, nio.http]),

    // Spans of calls, and their export.
    .target(name: "Traces", dependencies: [tracing]),
    .target(
      name: "TraceExport",
      dependencies: ["OutboundHTTP", "Traces", tracing, logging, nio.http]),

    // What is kept: the stored form of payloads, the store protocol, what a write decides, and the two
    // implementations.
    .target(
      name: "PayloadCompression", dependencies: ["CZstd", "Cryptography", "Locks"],
      resources: [.embedInCode("Dictionaries")]),
    .target(
      name: "EntitlementStore",
      dependencies: [
        "AppStorePayloads", "Cryptography", "EntitlementDomain", "JSON", "PayloadCompression",
        "Traces", "Workers", logging, tracing,
      ]),
    .target(
      name: "SQLiteStore",
      dependencies: [
        "EntitlementDomain", "EntitlementStore", "PayloadCompression", "Workers", logging,
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),

    .target(
      name: "PostgresStore",
      dependencies: [
        "CPostgres", "Cryptography", "EntitlementDomain", "EntitlementStore", "Locks",
        "PayloadCompression", "Workers", logging,
        .product(name: "DequeModule", package: "swift-collections"),
      ],
      resources: [.embedInCode("Schema/schema.sql")]),
    .target(
      name: "PostgresBulkLoader",
      dependencies: ["EntitlementDomain", "EntitlementStore", "PostgresStore"]),

    // What monitoring reads.
    .target(
      name: "MetricsExposition",
      dependencies: [.product(name: "CoreMetrics", package: "swift-metrics")]),

    // The framed front: frames and streams, messages, connections.
    .target(name: "Framing", dependencies: [nio.core]),
    .target(
      name: "Wire",
      dependencies: ["CEntitleMessages", "EntitlementDomain", "Framing", "JSON", nio.core]),
    // Who may call, and what.
    .target(
      name: "AccessControl",
      dependencies: [
        "Cryptography", "EntitlementDomain", "Framing", "Wire", "YAMLFiles", nio.core,
      ]),
    .target(
      name: "RPCServer",
      dependencies: [
        "AccessControl", "Cryptography", "EntitlementDomain", "Framing", "Traces", "Wire",
        "Workers", nio.core, nio.posix, nio.ssl, nio.tls,
        logging,
      ]),
    // HTTP, translated into frames.
    .target(
      name: "HTTPFront",
      dependencies: [
        "AppStorePayloads", "EntitlementDomain", "Framing", "JSON", "RPCServer", "Wire", "Workers",
        logging, nio.core, nio.http,
      ]),
    .target(
      name: "RPCClient",
      dependencies: [
        "Cryptography", "EntitlementDomain", "Framing", "Wire", nio.core, nio.posix, nio.ssl,
        nio.tls,
      ]),

    // Use cases, and their binding to the front.
    .target(
      name: "EntitlementService",
      dependencies: [
        "AccessControl", "CatalogFiles", "Cryptography", "EntitlementDomain", "EntitlementStore",
        "Framing", "Traces", "Verification", "Wire", "Workers", logging, nio.core, tracing,
      ]),
    .target(
      name: "RPCEndpoints",
      dependencies: [
        "AccessControl", "Cryptography", "EntitlementDomain", "EntitlementService",
        "EntitlementStore", "Framing",
        "RPCServer", "Traces", "Verification", "Wire", "Workers", nio.core,
      ]),

    // Asks the App Store for what is missing.
    .target(
      name: "AppStoreRecovery",
      dependencies: [
        "AppStoreServerAPI", "EntitlementDomain", "EntitlementService", "EntitlementStore",
        "Verification", "Workers", logging, nio.core,
      ]),

    // Asks the App Store for callers: operators, and reads of unknown customers.
    .target(
      name: "AppStoreOperations",
      dependencies: [
        "AppStoreServerAPI", "EntitlementDomain", "EntitlementService", "EntitlementStore",
        "Verification", "Wire", "Workers", logging, nio.core,
      ]),

    // What the service shows of itself.
    .target(
      name: "ServiceMetrics",
      dependencies: ["EntitlementService", "Framing", "MetricsExposition", "RPCServer"]),

    // The App Store in a box.
    .target(name: "StoreSimulator", dependencies: ["Cryptography", "EntitlementDomain"]),
    // It serves: Apple's API, notifications on a virtual clock, and the control interface.
    .target(
      name: "StoreSimulatorServer",
      dependencies: [
        "AppStorePayloads", "Cryptography", "EntitlementDomain", "Locks", "StoreSimulator",
        nio.core, nio.http, nio.posix,
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
      ]),

    // Files that say what the service must answer, and what runs them.
    .target(
      name: "Scenarios",
      dependencies: [
        "AppStorePayloads", "CatalogFiles", "Cryptography", "EntitlementDomain",
        "EntitlementService",
        "EntitlementStore", "JSON", "RPCEndpoints", "SQLiteStore", "StoreSimulator",
        "Verification", "Wire", "Yams", logging,
      ]),

    // Programs: what their commands share, what is behind each, and their entry points.
    .target(name: "Programs", dependencies: [argumentParser, logging]),
    .target(
      name: "ClientOptions", dependencies: ["Framing", "Programs", "RPCClient", argumentParser]),
    .target(
      name: "OperatorCommands",
      dependencies: [
        "AccessControl", "AppStorePayloads", "CatalogFiles", "ClientOptions", "Cryptography",
        "EntitlementDomain",
        "EntitlementStore", "Framing", "JSON", "PostgresStore", "Programs", "RPCClient",
        "SQLiteStore", "Scenarios", "Verification", "Wire", "YAMLFiles",
        argumentParser,
      ]),
    .target(
      name: "SimulatorCommands",
      dependencies: [
        "ClientOptions", "EntitlementDomain", "Framing", "Programs", "RPCClient",
        "StoreSimulator", "StoreSimulatorServer", "Wire", argumentParser,
      ]),
    .target(
      name: "LoadClient",
      dependencies: [
        "AppStorePayloads", "CatalogFiles", "ClientOptions", "Cryptography",
        "EntitlementDomain", "EntitlementStore", "Framing", "PostgresBulkLoader",
        "PostgresStore", "Programs",
        "RPCClient", "StoreSimulator", "Wire", argumentParser, nio.core, nio.posix,
        .product(name: "Histogram", package: "hdrhistogram-swift"),
      ]),
    .executableTarget(
      name: "entitled",
      dependencies: [
        "AccessControl", "AppStoreOperations", "AppStoreRecovery", "AppStoreServerAPI",
        "CatalogFiles",
        "CertificateStatus", "Cryptography", "DevelopmentClock", "EntitlementDomain",
        "EntitlementService", "EntitlementStore", "Framing", "HTTPFront", "MetricsExposition",
        "OutboundHTTP", "PostgresStore", "Programs", "RPCEndpoints", "RPCServer", "SQLiteStore",
        "ServiceMetrics", "TraceExport", "Traces", "Verification", "Wire", "Workers", "YAMLFiles",
        "Yams", argumentParser, logging, nio.core, nio.posix,
        tracing,
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "SystemPackage", package: "swift-system"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ]),
    .executableTarget(name: "entitlectl", dependencies: ["OperatorCommands"]),
    .executableTarget(name: "entitle-load", dependencies: ["LoadClient"]),
    .executableTarget(name: "storesim", dependencies: ["SimulatorCommands"]),

    // Tests. StoreConformance is the one suite that every store runs; TestSupport is shared.
    .target(
      name: "StoreConformance",
      dependencies: [
        "AppStorePayloads", "Cryptography", "EntitlementDomain", "EntitlementStore", "TestSupport",
      ],
      path: "Tests/StoreConformance"),
    .target(name: "TestSupport", path: "Tests/TestSupport"),
    // The whole service on sockets, for the tests of what stands in front of it.
    .target(
      name: "ServiceSupport",
      dependencies: [
        "AccessControl", "CatalogFiles", "Cryptography", "EntitlementDomain",
        "EntitlementService", "EntitlementStore", "Framing", "RPCClient", "RPCEndpoints",
        "RPCServer", "SQLiteStore", "StoreSimulator", "TestSupport", "Verification", "Wire",
        logging, nio.core,
      ],
      path: "Tests/ServiceSupport"),
    // A simulated App Store, and a service that asks it for what is missing.
    .target(
      name: "RecoverySupport",
      dependencies: [
        "AppStoreRecovery", "AppStoreServerAPI", "CatalogFiles", "Cryptography",
        "EntitlementDomain", "EntitlementService", "EntitlementStore", "SQLiteStore",
        "StoreSimulator",
        "StoreSimulatorServer", "TestSupport", "Verification", logging, nio.core,
      ],
      path: "Tests/RecoverySupport"),
    .target(
      name: "TLSSupport", dependencies: ["Cryptography", "TestSupport"],
      path: "Tests/TLSSupport"),
    // Measurements, apart from the product: deploy/benchmark.
    .executableTarget(
      name: "benchmark",
      dependencies: [
        "AccessControl", "AppStorePayloads", "AppStoreRecovery", "CatalogFiles", "Cryptography",
        "EntitlementDomain", "EntitlementService", "EntitlementStore", "Framing", "JSON",
        "LoadClient", "Locks", "PostgresBulkLoader", "PostgresStore", "RPCClient",
        "RecoverySupport", "SQLiteStore", "StoreSimulator",
        "TLSSupport", "TestSupport", "Verification", "Wire", argumentParser, logging, nio.core,
        nio.embedded, nio.http, nio.posix, nio.ssl, nio.tls,
      ],
      path: "Tests/Benchmarks",
      exclude: ["BareEcho"]),
    // The bound of the benchmark's reads, in C.
    .executableTarget(
      name: "bare-echo",
      path: "Tests/Benchmarks/BareEcho",
      cSettings: [
        .enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error),
      ]),
    // Breaks the parts of a running service, and checks what it answered: deploy/chaos.
    .executableTarget(
      name: "chaos",
      dependencies: [
        "AppStorePayloads", "CatalogFiles", "EntitlementDomain", "EntitlementStore", "Framing",
        "JSON", "PostgresStore", "RPCClient", "StoreSimulator", "TestSupport", "Wire",
        argumentParser, logging, nio.core, nio.posix,
      ],
      path: "Tests/Chaos"),
    // The server that conformance suites of the Connect protocol test.
    .target(
      name: "CConformanceMessages", dependencies: ["CProtobufC"],
      path: "Tests/CConformanceMessages"),
    .executableTarget(
      name: "connect-conformance",
      dependencies: [
        "CConformanceMessages", "Framing", "HTTPFront", "RPCServer", "Wire", logging, nio.core,
        nio.http, .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      path: "Tests/ConnectConformance",
      exclude: ["Protos", "cases.py", "check.py"]),
    // What the fuzzer feeds, and the tests that replay its corpus: deploy/fuzz.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "AppStorePayloads", "CatalogFiles", "Cryptography", "EntitlementDomain", "Framing", "JSON",
        "PayloadCompression", "StoreSimulator", "Verification", "Wire", nio.core,
      ],
      path: "Tests/FuzzTargets"),
    .testTarget(
      name: "FuzzTests",
      dependencies: [
        "FuzzTargets", "Framing", "JSON", "StoreSimulator", "TestSupport", "Verification", "Wire",
        nio.core,
      ],
      exclude: ["Findings"]),
    .testTarget(
      name: "EntitlementDomainTests",
      dependencies: ["AppStorePayloads", "CatalogFiles", "EntitlementDomain", "TestSupport"]),
    .testTarget(
      name: "AppStorePayloadsTests",
      dependencies: [
        "AppStorePayloads", "Cryptography", "EntitlementDomain", "JSON", "StoreSimulator",
        "TestSupport",
      ]),
    .testTarget(
      name: "CatalogFilesTests",
      dependencies: ["CatalogFiles", "EntitlementDomain", "TestSupport"]),
    .testTarget(
      name: "YAMLFilesTests",
      dependencies: ["CatalogFiles", "EntitlementDomain", "TestSupport", "YAMLFiles"]),
    .testTarget(
      name: "AccessControlTests",
      dependencies: [
        "AccessControl", "Cryptography", "EntitlementDomain", "TestSupport", "Wire", nio.core,
      ]),
    // What holds for every customer, over thousands of random ones.
    .testTarget(
      name: "EvaluationPropertyTests",
      dependencies: ["EntitlementDomain", "TestSupport", "Wire", nio.core]),
    .testTarget(
      name: "PayloadCompressionTests",
      dependencies: [
        "Cryptography", "EntitlementDomain", "PayloadCompression", "StoreSimulator",
        "TestSupport",
      ]),
    .testTarget(
      name: "CryptographyTests", dependencies: ["COpenSSL", "Cryptography", "TestSupport"]),
    .testTarget(
      name: "VerificationTests",
      dependencies: [
        "AppStorePayloads", "Cryptography", "EntitlementDomain", "JSON", "Locks", "StoreSimulator",
        "TestSupport", "Verification", "Workers",
      ]),
    .testTarget(name: "WorkersTests", dependencies: ["Locks", "TestSupport", "Workers"]),
    .testTarget(name: "OutboundHTTPTests", dependencies: ["OutboundHTTP"]),
    .testTarget(
      name: "CertificateStatusTests",
      dependencies: [
        "CertificateStatus", "Cryptography", "EntitlementDomain", "StoreSimulator", "TestSupport",
        "Verification",
      ]),
    .testTarget(
      name: "AppStoreServerAPITests",
      dependencies: [
        "AppStoreServerAPI", "Cryptography", "EntitlementDomain", "OutboundHTTP", "TestSupport",
        "Traces", nio.core, nio.http, nio.posix, tracing,
      ]),
    .testTarget(
      name: "AppStoreRecoveryTests",
      dependencies: [
        "AppStoreRecovery", "AppStoreServerAPI", "EntitlementDomain", "EntitlementService",
        "EntitlementStore", "RecoverySupport", "SQLiteStore", "StoreSimulator", "TestSupport",
      ]),
    .testTarget(
      name: "AppStoreOperationsTests",
      dependencies: [
        "AppStoreOperations", "AppStoreRecovery", "AppStoreServerAPI", "EntitlementDomain",
        "EntitlementService", "EntitlementStore", "RecoverySupport", "SQLiteStore",
        "StoreConformance", "StoreSimulator", "TestSupport", "Verification", "Wire", logging,
        nio.core,
      ]),
    .testTarget(
      name: "DevelopmentClockTests",
      dependencies: [
        "DevelopmentClock", "EntitlementDomain", "StoreSimulator", "StoreSimulatorServer",
        "TestSupport", logging,
      ]),
    .testTarget(
      name: "SQLiteStoreTests",
      dependencies: [
        "EntitlementDomain", "EntitlementStore", "SQLiteStore", "StoreConformance", "TestSupport",
        "Workers",
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .testTarget(
      name: "EntitlementStoreTests",
      dependencies: [
        "EntitlementDomain", "EntitlementStore", "PayloadCompression", "TestSupport", logging,
      ]),
    .testTarget(
      name: "PostgresStoreTests",
      dependencies: [
        "AppStorePayloads", "Cryptography", "EntitlementDomain", "EntitlementStore",
        "PostgresStore", "StoreConformance", "TestSupport", "Workers", logging,
      ]),
    .testTarget(
      name: "WireTests",
      dependencies: [
        "CConformanceMessages", "EntitlementDomain", "Framing", "JSON", "TestSupport", "Wire",
        "Yams", nio.core,
      ]),
    .testTarget(
      name: "FramingTests",
      dependencies: ["Framing", "TestSupport", "Wire", nio.core, nio.embedded]),
    .testTarget(
      name: "RPCServerTests",
      dependencies: [
        "AccessControl", "Cryptography", "EntitlementDomain", "Framing", "RPCClient", "RPCServer",
        "TLSSupport",
        "TestSupport", "Traces", "Wire", logging, nio.core, nio.embedded, nio.posix, nio.ssl,
        tracing,
      ]),
    .testTarget(
      name: "StoreSimulatorTests",
      dependencies: [
        "AppStorePayloads", "CatalogFiles", "Cryptography", "EntitlementDomain", "JSON",
        "StoreSimulator", "TestSupport", "Verification",
      ]),
    .testTarget(
      name: "StoreSimulatorServerTests",
      dependencies: [
        "AppStorePayloads", "Cryptography", "EntitlementDomain", "StoreSimulator",
        "StoreSimulatorServer", "TestSupport",
      ]),
    .testTarget(
      name: "EntitlementServiceTests",
      dependencies: [
        "AppStorePayloads", "CatalogFiles", "EntitlementDomain", "EntitlementService",
        "EntitlementStore", "Framing", "SQLiteStore", "StoreConformance", "StoreSimulator",
        "TestSupport", "Traces",
        "Verification", "Wire", "Workers", logging, nio.core, nio.posix, tracing,
      ]),
    .testTarget(
      name: "RPCEndpointsTests",
      dependencies: [
        "AccessControl", "AppStoreServerAPI", "CatalogFiles", "Cryptography", "EntitlementDomain",
        "EntitlementService",
        "EntitlementStore", "Framing", "MetricsExposition",
        "RPCClient", "RPCEndpoints", "RPCServer", "SQLiteStore", "ServiceMetrics", "ServiceSupport",
        "StoreConformance", "StoreSimulator", "TestSupport", "Verification", "Wire", "Workers",
        logging, nio.core, .product(name: "CoreMetrics", package: "swift-metrics"),
      ]),
    .testTarget(
      name: "HTTPFrontTests",
      dependencies: [
        "AccessControl", "Cryptography", "EntitlementDomain", "Framing", "HTTPFront", "JSON",
        "RPCClient", "RPCEndpoints", "RPCServer", "ServiceSupport", "StoreSimulator",
        "TLSSupport", "TestSupport", "Wire", logging, nio.core, nio.http, nio.posix,
      ]),
    .testTarget(
      name: "OperatorCommandsTests",
      dependencies: [
        "AccessControl", "ClientOptions", "Cryptography", "EntitlementDomain", "Framing", "JSON",
        "OperatorCommands", "Programs", "RPCClient", "TestSupport", "Wire", "YAMLFiles",
        argumentParser, logging,
      ]),
    .testTarget(
      name: "LoadClientTests",
      dependencies: [
        "EntitlementDomain", "Framing", "LoadClient", "Programs", "RPCClient", "RPCServer",
        "StoreSimulator", "TestSupport", "Wire", logging, nio.core, nio.posix,
      ]),
    .testTarget(
      name: "PostgresBulkLoaderTests",
      dependencies: [
        "EntitlementDomain", "EntitlementStore", "LoadClient", "PostgresBulkLoader",
        "PostgresStore", "TestSupport", logging,
      ]),
    // Every file under Tests/Scenarios, and what runs them.
    .testTarget(
      name: "ScenarioTests",
      dependencies: [
        "EntitlementDomain", "Framing", "Scenarios", "StoreSimulator", "TestSupport", "Wire",
      ]),
    .testTarget(
      name: "MetricsExpositionTests",
      dependencies: [
        "MetricsExposition", "TestSupport",
        .product(name: "CoreMetrics", package: "swift-metrics"),
      ]),
    .testTarget(
      name: "TracingTests",
      dependencies: ["OutboundHTTP", "TestSupport", "TraceExport", "Traces", logging, tracing]),
    .testTarget(
      name: "ServiceMetricsTests",
      dependencies: [
        "EntitlementService", "Framing", "MetricsExposition", "RPCServer", "ServiceMetrics",
        "TestSupport", "Yams", nio.core,
      ]),
    // Whole programs, as processes.
    .testTarget(
      name: "ProgramTests",
      dependencies: [
        "AccessControl", "Cryptography", "EntitlementDomain", "EntitlementService",
        "EntitlementStore", "Framing", "MetricsExposition", "OperatorCommands", "Programs",
        "RPCClient", "SQLiteStore", "ServiceMetrics", "StoreSimulator", "StoreSimulatorServer",
        "TLSSupport", "TestSupport",
        "Wire",
        "bare-echo",
        "entitle-load", "entitlectl", "entitled", "storesim", nio.core,
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// A product of each transitive dependency. SwiftPM warns on each build of a package that no target
// uses. TestSupport therefore depends on these, on a platform that is not supported, so that
// nothing more is built. It is in no product, so that packages that depend on RPCClient are not
// bound to these versions.
let transitiveProducts = [
  "swift-algorithms": "Algorithms",
  "swift-asn1": "SwiftASN1",
  "swift-async-algorithms": "AsyncAlgorithms",
  "swift-atomics": "Atomics",
  "swift-certificates": "X509",
  "swift-crypto": "Crypto",
  "swift-http-structured-headers": "StructuredFieldValues",
  "swift-http-types": "HTTPTypes",
  "swift-nio-extras": "NIOExtras",
  "swift-nio-http2": "NIOHTTP2",
  "swift-nio-transport-services": "NIOTransportServices",
  "swift-numerics": "Numerics",
  "swift-service-context": "ServiceContextModule",
]
for target in package.targets where target.name == "TestSupport" {
  target.dependencies += transitiveProducts.sorted { $0.key < $1.key }.map { name, product in
    .product(name: product, package: name, condition: .when(platforms: [.windows]))
  }
}

// Built by deploy/fuzz alone: it needs the fuzzer's own entry point.
if Context.environment["ENTITLE_FUZZING"] != nil {
  package.targets.append(
    .executableTarget(name: "fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz"))
}

// The same strict settings for every Swift target of ours.
let targetsInC: Set = ["CConformanceMessages", "CEntitleMessages", "bare-echo"]
for target in package.targets where target.type != .system && !targetsInC.contains(target.name) {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
  ]
}

// Set by deploy/test and deploy/quickstart alone (QUICK_BUILD in deploy/lib.sh): these targets only
// compute, and the tests spend most of their time in them. Assertions stay. Always set, such flags
// would keep other packages from depending on RPCClient.
if Context.environment["OPTIMIZED_TEST_BUILD"] != nil {
  let optimized: Set = [
    "AppStorePayloads", "CatalogFiles", "Cryptography", "EntitlementDomain", "EntitlementStore",
    "EvaluationPropertyTests", "Framing", "FuzzTargets", "JSON", "PayloadCompression",
    "StoreSimulator", "Verification", "Wire", "Workers",
  ]
  for target in package.targets where optimized.contains(target.name) {
    target.swiftSettings?.append(.unsafeFlags(["-O", "-assert-config", "Debug"]))
  }
}
