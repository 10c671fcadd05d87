import MixerProcess
import NIOCore
import NIOPosix
import OutboundHTTP
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Gateway

@Suite("Asset fetches by URL", .enabled(if: TestRun.isFull), .timeLimit(.minutes(1)))
struct AssetFetcherTests {
    private let anywhere = AssetFetcher(allowsPrivateAddresses: true)

    private func fetch(_ url: String, by fetcher: AssetFetcher) async throws -> [UInt8] {
        let bytes = try await fetcher.fetch(url: url, on: MultiThreadedEventLoopGroup.singleton)
        return Array(bytes.readableBytesView)
    }

    private func refusal(_ url: String, by fetcher: AssetFetcher) async -> AssetError.Code? {
        let error = await #expect(throws: AssetError.self, "\(url)") { _ = try await fetch(url, by: fetcher) }
        return error?.code
    }

    @Test("fetches a file, also through a redirect and by host name")
    func files() async throws {
        let face = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        let elsewhere = try await TestWebServer(["/face": .unannounced(face)])
        let server = try await TestWebServer([
            "/face.png?size=2": .file(face), "/near": .redirect("/face.png?size=2"),
            "/far": .redirect(elsewhere.url("/face")),
        ])
        #expect(try await fetch(server.url("/face.png?size=2"), by: anywhere) == face)
        #expect(try await fetch(server.url("/near"), by: anywhere) == face)
        #expect(try await fetch(server.url("/far"), by: anywhere) == face)
        // One of the name's addresses may refuse connections.
        #expect(try await fetch("http://localhost:\(server.port)/near", by: anywhere) == face)
        #expect(elsewhere.requestedPaths == ["/face"])
        #expect(await refusal(server.url("/none"), by: anywhere) == .refused)
    }

    @Test("fails on oversized files, redirect loops and timeouts")
    func limits() async throws {
        let large = [UInt8](repeating: 7, count: 5 << 20)
        let server = try await TestWebServer([
            "/largest": .unannounced(large), "/larger": .unannounced(large + [7]), "/announced": .file(large + [7]),
            "/circle": .redirect("/circle"), "/silent": .noResponse,
        ])
        #expect(try await fetch(server.url("/largest"), by: anywhere).count == large.count)
        #expect(await refusal(server.url("/larger"), by: anywhere) == .tooLarge)
        #expect(await refusal(server.url("/announced"), by: anywhere) == .tooLarge)
        #expect(await refusal(server.url("/circle"), by: anywhere) == .badAddress)
        #expect(server.requestedPaths.count { $0 == "/circle" } == 4)
        #expect(await refusal(server.url("/silent"), by: anywhere) == .unreachable)
    }

    @Test("applies the size limit of music uploads")
    func music() async throws {
        let largest = [UInt8](repeating: 7, count: 20 << 20)
        let server = try await TestWebServer(["/song": .file(largest), "/more": .unannounced(largest + [7])])
        let song = try await anywhere.fetch(url: server.url("/song"), .sound, on: MultiThreadedEventLoopGroup.singleton)
        #expect(song.readableBytes == largest.count)
        let error = await #expect(throws: AssetError.self) {
            _ = try await anywhere.fetch(url: server.url("/more"), .sound, on: MultiThreadedEventLoopGroup.singleton)
        }
        #expect(error?.code == .tooLarge)
    }

    @Test("refuses its own ports always, and private addresses unless allowed")
    func forbidden() async throws {
        let own = try await TestWebServer(["/secret": .file([1])])
        let server = try await TestWebServer(["/trap": .redirect(own.url("/secret"))])
        let allowed = AssetFetcher(allowsPrivateAddresses: true, ownPorts: [UInt16(own.port)])
        #expect(await refusal(own.url("/secret"), by: allowed) == .forbiddenAddress)
        #expect(await refusal("http://localhost:\(own.port)/secret", by: allowed) == .forbiddenAddress)
        #expect(await refusal(server.url("/trap"), by: allowed) == .forbiddenAddress)
        #expect(server.requestedPaths == ["/trap"])
        #expect(await refusal(server.url("/trap"), by: AssetFetcher()) == .forbiddenAddress)
        #expect(server.requestedPaths == ["/trap"] && own.requestedPaths.isEmpty)
    }
}

@Suite("Addresses of assets")
struct AssetAddressTests {
    @Test("parses http and https URLs without user information only")
    func reading() {
        let address = OutboundTarget(assetURL: "https://cdn.example.org/logos/a%20b.png?size=2")
        #expect(
            address
                == OutboundTarget(isSecure: true, host: "cdn.example.org", port: 443, path: "/logos/a%20b.png?size=2")
        )
        #expect(address?.authority == "cdn.example.org")
        #expect(OutboundTarget(assetURL: "http://example.org:8080")?.path == "/")
        #expect(OutboundTarget(assetURL: "http://[2001:db8::1]/x")?.host == "2001:db8::1")
        for url in ["ftp://example.org/a", "file:///etc/passwd", "https://user@example.org/", "https:///a", "a", ""] {
            #expect(OutboundTarget(assetURL: url) == nil, "\(url)")
        }
    }

    @Test("follows a redirect to a path or a URL, but not from https to http")
    func redirects() throws {
        let address = try #require(OutboundTarget(assetURL: "https://example.org/a"))
        #expect(address.redirected(to: "/b")?.path == "/b")
        #expect(address.redirected(to: "https://other.example/c")?.host == "other.example")
        #expect(address.redirected(to: "http://example.org/a") == nil)
        #expect(address.redirected(to: "file:///etc/passwd") == nil)
    }

    @Test("refuses a URL of this machine or of a private network")
    func forbidden() async throws {
        for url in ["http://127.0.0.1:8080/a", "http://[::1]:8080/a", "http://10.0.0.1/a", "http://169.254.169.254/a"] {
            await #expect(throws: AssetError.self, "\(url)") {
                try await AssetFetcher().fetch(url: url, on: MultiThreadedEventLoopGroup.singleton)
            }
        }
    }
}
