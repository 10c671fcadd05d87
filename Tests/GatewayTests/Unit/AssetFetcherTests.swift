import Logging
import Media
import NIOCore
import NIOEmbedded
import NIOPosix
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Gateway

@Suite("Asset fetches by URL", .enabled(if: TestRun.isFull), .timeLimit(.minutes(1)))
struct AssetFetcherTests {
    private let anywhere = AssetFetcher(allowsPrivateAddresses: true)

    private func fetch(_ url: String, by fetcher: AssetFetcher) async throws -> [UInt8] {
        let bytes = try await fetcher.fetch(url: url, on: MultiThreadedEventLoopGroup.singleton.next()).get()
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
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let song = try await anywhere.fetch(url: server.url("/song"), .sound, on: loop).get()
        #expect(song.readableBytes == largest.count)
        let error = await #expect(throws: AssetError.self) {
            _ = try await anywhere.fetch(url: server.url("/more"), .sound, on: loop).get()
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

@Suite("Scheduling of asset fetches")
struct AssetFetchSchedulerTests {
    private let start = MonotonicTime(nanoseconds: 0)

    private func asset(_ id: String, version: String? = nil) -> RequiredAsset {
        RequiredAsset(id: id, version: version)
    }

    private func moment(_ seconds: Double) -> MonotonicTime { start.advanced(seconds: seconds) }

    @Test("fetches each asset once, three at a time")
    func fetchesOnce() {
        var scheduler = AssetFetchScheduler()
        scheduler.setRequired(Set((0..<5).map { asset("asset:\($0)") }), now: start)
        let first = scheduler.due(at: start)
        #expect(first.map(\.id) == ["asset:0", "asset:1", "asset:2"])
        #expect(scheduler.due(at: start).isEmpty)
        let isRequired = scheduler.fetched(first[0])
        #expect(isRequired)
        #expect(scheduler.due(at: start).map(\.id) == ["asset:3"])
        scheduler.setRequired(Set((0..<5).map { asset("asset:\($0)") }), now: moment(100))
        for asset in first.dropFirst() { _ = scheduler.fetched(asset) }
        #expect(scheduler.due(at: moment(1000)).map(\.id) == ["asset:4"])
    }

    @Test("retries a failed fetch with backoff up to a minute")
    func backOff() {
        var scheduler = AssetFetchScheduler()
        scheduler.setRequired([asset("asset:a")], now: start)
        var (now, waits): (Double, [Double]) = (0, [])
        for _ in 0..<8 {
            #expect(scheduler.due(at: moment(now)).count == 1)
            scheduler.failed(asset("asset:a"), isFinal: false, now: moment(now), chance: 0.5)
            let begin = now
            while scheduler.due(at: moment(now)).isEmpty { now += 0.25 }
            waits.append(now - begin)
            scheduler.failed(asset("asset:a"), isFinal: false, now: moment(now), chance: 0.5)
            while scheduler.due(at: moment(now)).isEmpty { now += 0.25 }
            scheduler.failed(asset("asset:a"), isFinal: false, now: moment(now), chance: 0.5)
            now += 100
        }
        #expect(waits.first == 1 && waits.allSatisfy { $0 <= 60 })
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test("retries a refused fetch after a minute")
    func refused() {
        var scheduler = AssetFetchScheduler()
        scheduler.setRequired([asset("https://example.org/a.png")], now: start)
        _ = scheduler.due(at: start)
        scheduler.failed(asset("https://example.org/a.png"), isFinal: true, now: start, chance: 0.5)
        #expect(scheduler.due(at: moment(59)).isEmpty)
        #expect(scheduler.due(at: moment(61)).count == 1)
    }

    @Test("fetches another version of a name, and drops a result that is no longer required")
    func versions() {
        var scheduler = AssetFetchScheduler()
        scheduler.setRequired([asset("asset:a")], now: start)
        let old = scheduler.due(at: start)[0]
        scheduler.setRequired([asset("asset:a", version: "2")], now: start)
        let isRequired = scheduler.fetched(old)
        #expect(!isRequired)
        #expect(scheduler.due(at: start) == [asset("asset:a", version: "2")])
    }
}

@Suite("Delivery of assets to a mixer")
struct AssetReaderTests {
    @Test("removes a removed asset from the mixer, also if its fetch was under way")
    func removed() throws {
        let loop = EmbeddedEventLoop()
        let delivered = Mutex<[String]>([])
        let responses = Mutex<[String: EventLoopPromise<ByteBuffer>]>([:])
        let reader = AssetReader(
            group: loop,
            logger: Logger(label: "test"),
            fetch: { asset, loop in
                let promise = loop.makePromise(of: ByteBuffer.self)
                responses.withLock { $0[asset.id] = promise }
                return promise.futureResult
            },
            deliver: { bytes, id in
                delivered.withLock { $0.append("\(id) \(bytes.map { String(buffer: $0) } ?? "gone")") }
            }
        )
        let face = RequiredAsset(id: "asset:face", version: nil)
        let logo = RequiredAsset(id: "asset:logo", version: nil)
        reader.setRequired([face, logo])
        responses.withLock { $0["asset:face"] }?.succeed(ByteBuffer(string: "1"))
        loop.run()
        #expect(delivered.withLock { $0 } == ["asset:face 1"])
        reader.setRequired([], removing: ["asset:face", "asset:logo"])
        loop.run()
        responses.withLock { $0["asset:logo"] }?.succeed(ByteBuffer(string: "2"))
        loop.run()
        #expect(delivered.withLock { $0 } == ["asset:face 1", "asset:face gone", "asset:logo gone"])
        // Removed once; an asset that is stored again is delivered again.
        reader.setRequired([], removing: ["asset:face", "asset:logo"])
        reader.setRequired([logo], removing: ["asset:face"])
        responses.withLock { $0["asset:logo"] }?.succeed(ByteBuffer(string: "3"))
        loop.run()
        #expect(delivered.withLock { $0.dropFirst(3) } == ["asset:logo 3"])
    }
}

@Suite("Addresses of assets")
struct AssetAddressTests {
    @Test("parses http and https URLs without user information only")
    func reading() {
        let address = AssetAddress(url: "https://cdn.example.org/logos/a%20b.png?size=2")
        #expect(
            address
                == AssetAddress(isSecure: true, host: "cdn.example.org", port: 443, path: "/logos/a%20b.png?size=2")
        )
        #expect(address?.authority == "cdn.example.org")
        #expect(AssetAddress(url: "http://example.org:8080")?.path == "/")
        #expect(AssetAddress(url: "http://[2001:db8::1]/x")?.host == "2001:db8::1")
        for url in ["ftp://example.org/a", "file:///etc/passwd", "https://user@example.org/", "https:///a", "a", ""] {
            #expect(AssetAddress(url: url) == nil, "\(url)")
        }
    }

    @Test("follows a redirect to a path or a URL, but not from https to http")
    func redirects() throws {
        let address = try #require(AssetAddress(url: "https://example.org/a"))
        #expect(address.redirected(to: "/b")?.path == "/b")
        #expect(address.redirected(to: "https://other.example/c")?.host == "other.example")
        #expect(address.redirected(to: "http://example.org/a") == nil)
        #expect(address.redirected(to: "file:///etc/passwd") == nil)
    }

    @Test("refuses a URL of this machine or of a private network")
    func forbidden() async throws {
        for url in ["http://127.0.0.1:8080/a", "http://[::1]:8080/a", "http://10.0.0.1/a", "http://169.254.169.254/a"] {
            await #expect(throws: AssetError.self, "\(url)") {
                try await AssetFetcher().fetch(url: url, on: MultiThreadedEventLoopGroup.singleton.next()).get()
            }
        }
    }
}
