// swift-tools-version: 6.2

import PackageDescription

/// Settings of every target of ours: the strict half of Swift, and no warning left standing.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

/// Targets whose inner loops touch every sample of a running program are optimised in debug builds too; unoptimised
/// they could not keep real time, and the tests that listen to a program would test the build mode.
let optimised: [SwiftSetting] = strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]

let nio = "swift-nio"

func nioProducts(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: nio) }
}

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")

let package = Package(
    name: "footlight",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .executable(name: "footlight", targets: ["footlight"]),
        // With the modules whose words its API is made of.
        .library(name: "FootlightClient", targets: ["FootlightClient", "FootlightModel", "Shows", "Stage", "Media"]),
        .library(name: "FootlightTesting", targets: ["FootlightTesting"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.19.4"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["JSON", "YAML"]),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        // The C libraries, each behind a module map and a shim of what Swift cannot import by itself.
        .systemLibrary(
            name: "CFFmpeg",
            pkgConfig: "libavformat libavcodec libswscale libswresample libavutil",
            providers: [
                .apt(["libavformat-dev", "libavcodec-dev", "libswscale-dev", "libswresample-dev", "libavutil-dev"])
            ]
        ),
        .systemLibrary(
            name: "CRTMP",
            pkgConfig: "librtmp gnutls",
            providers: [.apt(["librtmp-dev", "libgnutls28-dev"])]
        ),
        .systemLibrary(name: "CYUV", providers: [.apt(["libyuv-dev"])]),
        .systemLibrary(
            name: "CPango",
            pkgConfig: "pangocairo",
            providers: [.apt(["libpango1.0-dev", "libcairo2-dev"])]
        ),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CSeccomp", providers: [.apt(["libseccomp-dev"])]),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),

        // What flows, and who is on air.
        .target(name: "Media", dependencies: nioProducts("NIOCore"), swiftSettings: strict),
        .target(name: "Stage", dependencies: ["Media", crypto, deque], swiftSettings: strict),

        // Which of several gateways owns a room.
        .target(name: "Cluster", dependencies: ["Media"], swiftSettings: optimised),
        .target(
            name: "PostgresStore",
            dependencies: [
                "Media", "Cluster", "Shows", "FootlightModel", "Webhooks", "Persistence", "CPostgres", logging,
            ],
            swiftSettings: strict
        ),

        // The wire.
        .target(
            name: "RTMP",
            dependencies: ["Media", .product(name: "NIOSSL", package: "swift-nio-ssl")]
                + nioProducts("NIOCore", "NIOPosix"),
            swiftSettings: strict
        ),
        .target(name: "HLS", dependencies: ["Media", crypto] + nioProducts("NIOCore"), swiftSettings: strict),

        // The program.
        .target(
            name: "Codecs",
            dependencies: ["Media", "CFFmpeg", "CYUV", "CPango"] + nioProducts("NIOCore"),
            swiftSettings: optimised
        ),
        .target(name: "Mixer", dependencies: ["Media", "Stage", "Codecs", deque], swiftSettings: optimised),
        .target(
            name: "Egress",
            dependencies: ["Media", "Stage", "CRTMP"] + nioProducts("NIOCore"),
            swiftSettings: strict
        ),

        // In, out, and how many.
        .target(
            name: "Ingest",
            dependencies: ["Media", "Stage", "RTMP", logging, metrics] + nioProducts("NIOCore"),
            swiftSettings: strict
        ),
        .target(
            name: "FanOut",
            dependencies: [
                "Media", "Stage", "RTMP", "HLS", "FootlightModel", "CZlib", logging, metrics,
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
            ] + nioProducts("NIOCore", "NIOPosix", "NIOHTTP1"),
            swiftSettings: strict
        ),
        .target(
            name: "Recording",
            dependencies: ["Media", "Stage", "HLS", logging] + nioProducts("NIOCore"),
            swiftSettings: strict
        ),
        .target(name: "Viewership", dependencies: ["Media", "Stage", crypto], swiftSettings: strict),
        .target(name: "Admission", dependencies: ["Media", "Stage", crypto], swiftSettings: strict),
        .target(name: "Shows", dependencies: ["Stage"], swiftSettings: strict),
        .target(
            name: "OutboundHTTP",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ] + nioProducts("NIOCore", "NIOPosix", "NIOHTTP1"),
            swiftSettings: strict
        ),
        .target(
            name: "Webhooks",
            dependencies: ["Media", "FootlightModel", "OutboundHTTP", logging, crypto] + nioProducts("NIOCore"),
            swiftSettings: strict
        ),
        .target(
            name: "Persistence",
            dependencies: [
                "Media", "Stage", "Admission", "Shows", "Viewership", "Webhooks", "FootlightModel", logging, crypto,
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict
        ),

        // Control.
        .target(name: "FootlightModel", dependencies: ["Stage", "Shows"], swiftSettings: strict),
        .target(name: "Assets", dependencies: ["Stage"] + nioProducts("NIOCore", "NIOPosix"), swiftSettings: strict),
        .target(
            name: "ControlAPI",
            dependencies: [
                "Media", "Stage", "Shows", "Admission", "Assets", "Viewership", "Webhooks", "FootlightModel", logging,
                metrics, crypto,
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ] + nioProducts("NIOCore"),
            resources: [.embedInCode("openapi.yaml")],
            swiftSettings: strict
        ),
        .target(
            name: "Pages",
            dependencies: [
                "Media", logging, crypto,
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ] + nioProducts("NIOCore"),
            resources: [.embedInCode("Site")],
            swiftSettings: strict
        ),

        // The mixer process, and what the gateway needs to start one.
        .target(
            name: "MixerProcess",
            dependencies: [
                "Media", "Stage", "RTMP", "Codecs", "Mixer", "Egress", "FootlightModel", "Assets", "CSeccomp", logging,
            ] + nioProducts("NIOCore", "NIOPosix", "NIOHTTP1"),
            swiftSettings: strict
        ),

        // Wiring.
        .target(
            name: "Gateway",
            dependencies: [
                "Media", "Stage", "RTMP", "HLS", "Codecs", "Ingest", "MixerProcess", "Egress", "FanOut", "Viewership",
                "Admission", "Shows", "Recording", "Assets", "OutboundHTTP", "Webhooks", "Persistence",
                "FootlightModel",
                "ControlAPI",
                "Pages",
                "Cluster",
                "PostgresStore",
                "CSeccomp",
                logging, metrics, crypto,
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "NIOTLS", package: nio),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP2", package: "swift-nio-extras"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ] + nioProducts("NIOCore", "NIOPosix", "NIOHTTP1"),
            swiftSettings: strict
        ),
        .executableTarget(
            name: "footlight",
            dependencies: [
                "Gateway", "MixerProcess", "FootlightClient", "FootlightModel", "Stage",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict
        ),

        // What an app needs.
        .target(
            name: "FootlightClient",
            dependencies: [
                "Media", "Stage", "Shows", "RTMP", "FootlightModel",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ] + nioProducts("NIOCore", "NIOHTTP1"),
            swiftSettings: strict
        ),
        .target(
            name: "FootlightTesting",
            dependencies: ["Media", "Stage", "FootlightModel", "FootlightClient"],
            swiftSettings: strict
        ),

        // What the tests and benchmarks of this package need: processes, browsers, servers, recordings.
        .target(
            name: "TestSupport",
            dependencies: ["Media", "FootlightTesting", logging] + nioProducts("NIOCore"),
            swiftSettings: strict
        ),

        // One test target per target, and one that holds the table of who may import whom.
        .tests(of: "Media", "TestSupport", "NIOCore"),
        .tests(of: "Stage", "FootlightTesting", "TestSupport", "Media"),
        // Its model runs many thousand schedules.
        .tests(of: "Cluster", "Media", "TestSupport", settings: optimised),
        .tests(
            of: "PostgresStore",
            "Media",
            "Stage",
            "Shows",
            "Cluster",
            "FootlightModel",
            "Webhooks",
            "Persistence",
            "FootlightTesting",
            "TestSupport",
            "Logging"
        ),
        .tests(of: "RTMP", "Media", "FootlightTesting", "TestSupport", "NIOCore", "NIOPosix", "NIOEmbedded", "NIOSSL"),
        .tests(of: "HLS", "Media", "TestSupport", "NIOCore"),
        .tests(of: "Codecs", "Media", "TestSupport", "NIOCore"),
        .tests(
            of: "Mixer",
            "Media",
            "Stage",
            "Codecs",
            "FootlightTesting",
            "TestSupport",
            "NIOCore",
            without: ["Golden/frames.txt", "Golden/overlays.txt"]
        ),
        .tests(of: "Egress", "Media", "Stage", "FootlightTesting", "TestSupport", "NIOCore"),
        .tests(
            of: "Ingest",
            "Media",
            "Stage",
            "RTMP",
            "FootlightTesting",
            "TestSupport",
            "Logging",
            "NIOCore",
            "NIOPosix"
        ),
        .tests(
            of: "FanOut",
            "Media",
            "Stage",
            "RTMP",
            "HLS",
            "FootlightTesting",
            "TestSupport",
            "HTTPTypes",
            "NIOHTTPTypes",
            "NIOHTTPTypesHTTP1",
            "NIOHTTP2",
            "NIOHPACK",
            "NIOCore",
            "NIOPosix",
            "NIOEmbedded",
            "NIOHTTP1"
        ),
        .tests(of: "Recording", "Media", "Stage", "HLS", "FootlightTesting", "TestSupport", "Logging", "NIOCore"),
        .tests(of: "Viewership", "FootlightTesting", "Media", "Stage", "TestSupport"),
        .tests(
            of: "Admission",
            "FootlightTesting",
            "TestSupport",
            "Media",
            "Stage",
            "Viewership",
            "Persistence",
            "Logging"
        ),
        .tests(of: "Shows", "FootlightTesting", "TestSupport", "Media", "Stage", "Persistence", "Logging"),
        .tests(
            of: "Persistence",
            "FootlightTesting",
            "TestSupport",
            "Media",
            "Stage",
            "Viewership",
            "Webhooks",
            "GRDB",
            "Logging"
        ),
        .tests(of: "OutboundHTTP", "NIOCore", "NIOPosix"),
        .tests(
            of: "Webhooks",
            "Stage",
            "FootlightModel",
            "FootlightTesting",
            "TestSupport",
            "OutboundHTTP",
            "Persistence",
            "Crypto",
            "GRDB",
            "Logging",
            "NIOCore",
            "NIOPosix",
            "NIOHTTP1"
        ),
        .tests(of: "FootlightModel", "FootlightTesting", "Stage"),
        .tests(of: "Assets", "Stage", "FootlightTesting", "TestSupport", "NIOCore"),
        .tests(
            of: "ControlAPI",
            "Stage",
            "Shows",
            "Admission",
            "Assets",
            "Media",
            "Viewership",
            "Webhooks",
            "Persistence",
            "FootlightModel",
            "FootlightTesting",
            "TestSupport",
            "Hummingbird",
            "JWTKit",
            "Logging",
            "NIOCore",
            "NIOPosix"
        ),
        .tests(
            of: "Pages",
            "Media",
            "FootlightTesting",
            "TestSupport",
            "Hummingbird",
            "HTTPTypes",
            "Logging",
            "NIOCore",
            "NIOEmbedded"
        ),
        .tests(
            of: "FootlightClient",
            "Shows",
            "Stage",
            "FootlightModel",
            "Media",
            "RTMP",
            "Gateway",
            "FootlightTesting",
            "TestSupport",
            "footlight",
            "NIOCore",
            "NIOPosix"
        ),
        .tests(of: "FootlightTesting", "TestSupport", "Media", "NIOCore"),
        .tests(of: "TestSupport", "FootlightTesting", "Media", "NIOCore"),
        .tests(
            of: "MixerProcess",
            "Media",
            "Stage",
            "Mixer",
            "FootlightModel",
            "TestSupport",
            "Logging",
            "NIOCore",
            "NIOEmbedded"
        ),
        // The gateway's own, and the whole process on loopback, which they start as a user would.
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "Gateway", "Assets", "Cluster", "ControlAPI", "Egress", "FanOut", "FootlightTesting", "TestSupport",
                "FootlightModel", "Media", "Mixer", "MixerProcess", "OutboundHTTP",
                "Pages", "Persistence", "RTMP", "Shows", "Stage", "Viewership", "Webhooks", "footlight",
                logging,
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ] + nioProducts("NIOCore", "NIOPosix", "NIOEmbedded"),
            swiftSettings: strict
        ),
        .testTarget(name: "ArchitectureTests", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// The plugin that builds the documentation is a dependency only while it runs: see deploy/docs.
if Context.environment["FOOTLIGHT_DOCS"] != nil {
    package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.4.0"))
}

// The benchmarks are built only for those who measure: see deploy/bench.
if Context.environment["FOOTLIGHT_BENCH"] != nil {
    package.targets.append(
        .executableTarget(
            name: "footlight-bench",
            dependencies: [
                "Media", "Stage", "RTMP", "Codecs", "Mixer", "Egress", "Viewership", "FootlightTesting", "TestSupport",
                crypto,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ] + nioProducts("NIOCore", "NIOPosix"),
            swiftSettings: strict
        )
    )
}

// Fuzzing is a build of its own, of which the usual one knows nothing: see deploy/fuzz.
if Context.environment["FOOTLIGHT_FUZZ"] != nil {
    for target in package.targets where target.type == .regular {
        target.swiftSettings = strict + [.unsafeFlags(["-O", "-sanitize=fuzzer"])]
    }
    package.targets.append(
        .executableTarget(
            name: "footlight-fuzz",
            dependencies: [
                "Media", "Stage", "RTMP", "HLS", "Ingest", "FanOut", "Viewership", "Webhooks", "Persistence",
                "FootlightModel", "Assets", "ControlAPI", "Egress", "Gateway", logging,
                .product(name: "GRDB", package: "GRDB.swift"),
            ] + nioProducts("NIOCore", "NIOEmbedded", "NIOHTTP1"),
            path: "Tests/Fuzz",
            exclude: ["Corpus"],
            swiftSettings: strict,
            // Others cannot link what it takes to know which code was reached.
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]
        )
    )
}

extension Target {
    /// Where a product comes from that is not named like its package.
    private static let packages = [
        "HTTPTypes": "swift-http-types", "NIOHTTPTypes": "swift-nio-extras", "NIOHTTPTypesHTTP1": "swift-nio-extras",
        "NIOSSL": "swift-nio-ssl", "Hummingbird": "hummingbird", "JWTKit": "jwt-kit", "Logging": "swift-log",
        "NIOCore": "swift-nio", "NIOPosix": "swift-nio", "NIOEmbedded": "swift-nio", "NIOHTTP1": "swift-nio",
        "Configuration": "swift-configuration", "GRDB": "GRDB.swift", "Crypto": "swift-crypto",
        "NIOHTTP2": "swift-nio-http2", "NIOHPACK": "swift-nio-http2",
    ]

    /// The tests of one target, and what they need beside it; files beside the tests that they read where they lie are
    /// no part of the target.
    static func tests(
        of target: String,
        _ others: String...,
        without files: [String] = [],
        settings: [SwiftSetting] = strict
    ) -> Target {
        .testTarget(
            name: target + "Tests",
            dependencies: [.byName(name: target)]
                + others.map { name in packages[name].map { .product(name: name, package: $0) } ?? .byName(name: name) },
            exclude: files,
            swiftSettings: settings
        )
    }
}
