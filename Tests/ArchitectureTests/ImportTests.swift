import Foundation
import Testing

/// The modules that each target may import.
///
/// Importing another module is an error, even if the compiler allows it.
private let table: [String: String] = [
    "CFFmpeg": "", "CRTMP": "", "CYUV": "", "CPango": "", "CZlib": "", "CSeccomp": "", "CPostgres": "",
    "Media": "NIOCore Synchronization Dispatch Glibc Darwin",
    "Stage": "Media Crypto DequeModule Synchronization Glibc Darwin",
    "Cluster": "Media",
    "PostgresStore":
        "Media Shows Cluster FootlightModel Webhooks Persistence CPostgres Logging Dispatch \(foundation)",
    "RTMP": "Media NIOCore NIOPosix NIOSSL FoundationEssentials Synchronization Glibc Darwin",
    "HLS": "Media NIOCore Crypto FoundationEssentials Foundation",
    "Codecs": "Media CFFmpeg CYUV CPango NIOCore Foundation Synchronization Glibc",
    "Mixer": "Media Stage Codecs DequeModule NIOCore Foundation Synchronization Dispatch Glibc Darwin",
    "Egress": "Media Stage CRTMP NIOCore Foundation Synchronization Glibc",
    "Ingest": "Media Stage RTMP Logging Metrics NIOCore Synchronization",
    "FanOut": """
    Media Stage RTMP HLS FootlightModel CZlib Logging Metrics HTTPTypes NIOHTTPTypes NIOHTTPTypesHTTP1 NIOCore NIOPosix \
    NIOHTTP1 NIOHTTP2 NIOHPACK \(foundation)
    """,
    "Recording": "Media Stage HLS Logging NIOCore Dispatch \(foundation)",
    "Viewership": "Media Stage Crypto \(foundation)",
    "Admission": "Media Stage Crypto \(foundation)",
    "Shows": "Stage \(foundation)",
    "OutboundHTTP": "AsyncHTTPClient NIOCore NIOPosix NIOHTTP1 NIOSSL \(foundation)",
    "Webhooks": "Media FootlightModel OutboundHTTP Logging Crypto NIOCore Dispatch \(foundation)",
    "Persistence":
        "Media Stage Admission Shows Crypto Viewership Webhooks FootlightModel GRDB Logging Dispatch \(foundation)",
    "FootlightModel": "Stage Shows FoundationEssentials Foundation",
    "Assets": "Stage NIOCore NIOPosix \(foundation)",
    "ControlAPI": """
    Media Stage Admission Shows Assets Viewership Webhooks FootlightModel Logging Metrics Hummingbird HummingbirdCore ServiceLifecycle \
    JWTKit HTTPTypes Crypto NIOCore \(foundation)
    """,
    "Pages": "Media Logging Hummingbird HummingbirdCore HTTPTypes NIOCore Crypto \(foundation)",
    "MixerProcess": """
    Media Stage RTMP Codecs Mixer Egress FootlightModel Assets CSeccomp Logging NIOCore NIOPosix NIOHTTP1 \(foundation)
    """,
    "Gateway": """
    Media Stage RTMP HLS Codecs Ingest MixerProcess Egress FanOut Viewership Admission Shows Recording Assets OutboundHTTP \
    Webhooks \
    Persistence Cluster PostgresStore FootlightModel ControlAPI Pages CSeccomp Logging Metrics \
    Hummingbird HummingbirdCore Configuration ServiceLifecycle UnixSignals SystemPackage NIOCore NIOPosix NIOHTTP1 NIOSSL \
    SwiftASN1 X509 Crypto NIOTLS NIOHTTP2 HTTPTypes NIOHTTPTypes NIOHTTPTypesHTTP2 Dispatch \(foundation)
    """,
    "footlight":
        "Gateway MixerProcess FootlightClient FootlightModel Stage ArgumentParser Dispatch Foundation Glibc Darwin",
    "footlight-bench": """
    Media Stage RTMP Codecs Mixer Egress Viewership FootlightTesting TestSupport ArgumentParser Crypto NIOCore NIOPosix \
    FoundationNetworking \(foundation)
    """,
    "FootlightClient": """
    Media Stage Shows RTMP FootlightModel AsyncHTTPClient NIOCore NIOHTTP1 Foundation FoundationNetworking Observation \
    Synchronization \(apple)
    """,
    "FootlightTesting": "Media Stage FootlightModel FootlightClient Observation \(foundation)",
    "TestSupport": "Media FootlightTesting Logging NIOCore FoundationNetworking \(foundation)",
]

/// What exists on Apple's platforms only.
private let apple = "AVFoundation VideoToolbox SwiftUI"
private let foundation = "FoundationEssentials Foundation Synchronization Glibc"

/// Only the owning targets of the table import a C library, and do not re-export it.
private let cLibraries: Set = ["CFFmpeg", "CRTMP", "CYUV", "CPango", "CZlib", "CSeccomp", "CPostgres"]

private let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

@Suite("The import table") struct ImportTests {
    @Test("Every source folder has a row in the table, and every row a folder")
    func foldersAndRows() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: root.path + "/Sources")
        #expect(Set(folders) == Set(table.keys))
    }

    @Test("A target imports only the modules of its row", arguments: table.keys.sorted())
    func imports(target: String) throws {
        let allowed = Set((table[target] ?? "").split(separator: " ").map(String.init))
        for file in try swiftFiles(below: "Sources/" + target) {
            // Attributes, an access level, an optional declaration kind, and the module name.
            let pattern = /^\s*(?:@\w+(?:\(.*?\))?\s+)*(\w+\s+)?import\s+(?:[a-z]+\s+)?(\w+)/.anchorsMatchLineEndings()
            for line in try String(contentsOfFile: file, encoding: .utf8).matches(of: pattern) {
                let module = String(line.output.2)
                #expect(allowed.contains(module), "\(file) imports \(module)")
                let isShared = ["public ", "package "].contains(line.output.1 ?? "")
                #expect(!(isShared && cLibraries.contains(module)), "\(file) hands \(module) on")
            }
        }
    }

    @Test("No file has a generic name")
    func names() throws {
        for file in try swiftFiles(below: "Sources") + swiftFiles(below: "Tests") {
            let empty = /(Utils|Utilities|Helpers?|Common|Managers?|Extensions)(\/|\.swift$)/
            #expect(file.firstMatch(of: empty) == nil, "\(file) is named after nothing")
        }
    }

    private func swiftFiles(below folder: String) throws -> [String] {
        let folder = root.path + "/" + folder
        return try FileManager.default.subpathsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".swift") }
            .map { folder + "/" + $0 }
    }
}
