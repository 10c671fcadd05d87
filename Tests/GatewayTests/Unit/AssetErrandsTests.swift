@testable import Gateway
import Logging
import Media
import NIOCore
import NIOEmbedded
import NIOPosix
import Synchronization
import Testing

@Suite("Which assets are fetched when")
struct AssetErrandsTests {
    private let start = MonotonicTime(nanoseconds: 0)

    private func asset(_ id: String, version: String? = nil) -> WantedAsset { WantedAsset(id: id, version: version) }

    private func moment(_ seconds: Double) -> MonotonicTime { start.advanced(seconds: seconds) }

    @Test("Each is fetched once, three at the same time")
    func once() {
        var errands = AssetErrands()
        errands.want(Set((0..<5).map { asset("asset:\($0)") }), now: start)
        let first = errands.due(at: start)
        #expect(first.map(\.id) == ["asset:0", "asset:1", "asset:2"])
        #expect(errands.due(at: start).isEmpty)
        let isWanted = errands.fetched(first[0])
        #expect(isWanted)
        #expect(errands.due(at: start).map(\.id) == ["asset:3"])
        errands.want(Set((0..<5).map { asset("asset:\($0)") }), now: moment(100))
        for asset in first.dropFirst() { _ = errands.fetched(asset) }
        #expect(errands.due(at: moment(1000)).map(\.id) == ["asset:4"])
    }

    @Test("One that fails is tried again, later each time and at least once a minute or so")
    func backOff() {
        var errands = AssetErrands()
        errands.want([asset("asset:a")], now: start)
        var (now, waits): (Double, [Double]) = (0, [])
        for _ in 0..<8 {
            #expect(errands.due(at: moment(now)).count == 1)
            errands.failed(asset("asset:a"), isFinal: false, now: moment(now), jitter: 0.5)
            let begin = now
            while errands.due(at: moment(now)).isEmpty { now += 0.25 }
            waits.append(now - begin)
            errands.failed(asset("asset:a"), isFinal: false, now: moment(now), jitter: 0.5)
            while errands.due(at: moment(now)).isEmpty { now += 0.25 }
            errands.failed(asset("asset:a"), isFinal: false, now: moment(now), jitter: 0.5)
            now += 100
        }
        #expect(waits.first == 1 && waits.allSatisfy { $0 <= 60 })
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test("What the other side refuses is left alone for a minute")
    func refused() {
        var errands = AssetErrands()
        errands.want([asset("https://example.org/a.png")], now: start)
        _ = errands.due(at: start)
        errands.failed(asset("https://example.org/a.png"), isFinal: true, now: start, jitter: 0.5)
        #expect(errands.due(at: moment(59)).isEmpty)
        #expect(errands.due(at: moment(61)).count == 1)
    }

    @Test("Another version of a name is fetched anew; what is not wanted any more is not delivered")
    func versions() {
        var errands = AssetErrands()
        errands.want([asset("asset:a")], now: start)
        let old = errands.due(at: start)[0]
        errands.want([asset("asset:a", version: "2")], now: start)
        let isWanted = errands.fetched(old)
        #expect(!isWanted)
        #expect(errands.due(at: start) == [asset("asset:a", version: "2")])
    }
}

@Suite("How assets come to a mixer, and go")
struct AssetReaderTests {
    @Test("What is taken out of the room goes from the mixer, also when it was still on its way")
    func removed() throws {
        let loop = EmbeddedEventLoop()
        let delivered = Mutex<[String]>([])
        let answers = Mutex<[String: EventLoopPromise<ByteBuffer>]>([:])
        let reader = AssetReader(
            group: loop,
            logger: Logger(label: "test"),
            fetch: { asset, loop in
                let promise = loop.makePromise(of: ByteBuffer.self)
                answers.withLock { $0[asset.id] = promise }
                return promise.futureResult
            },
            deliver: { bytes, id in
                delivered.withLock { $0.append("\(id) \(bytes.map { String(buffer: $0) } ?? "gone")") }
            }
        )
        let (face, logo) = (WantedAsset(id: "asset:face", version: nil), WantedAsset(id: "asset:logo", version: nil))
        reader.want([face, logo])
        answers.withLock { $0["asset:face"] }?.succeed(ByteBuffer(string: "1"))
        loop.run()
        #expect(delivered.withLock { $0 } == ["asset:face 1"])
        reader.want([], without: ["asset:face", "asset:logo"])
        loop.run()
        answers.withLock { $0["asset:logo"] }?.succeed(ByteBuffer(string: "2"))
        loop.run()
        #expect(delivered.withLock { $0 } == ["asset:face 1", "asset:face gone", "asset:logo gone"])
        // Told once; put there again it comes again.
        reader.want([], without: ["asset:face", "asset:logo"])
        reader.want([logo], without: ["asset:face"])
        answers.withLock { $0["asset:logo"] }?.succeed(ByteBuffer(string: "3"))
        loop.run()
        #expect(delivered.withLock { $0.dropFirst(3) } == ["asset:logo 3"])
    }
}

@Suite("Where assets are asked for")
struct AssetAddressTests {
    @Test("Plain http and https URLs are read, all others are not")
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

    @Test("A redirect is followed to the same place or another URL, never from https to http")
    func redirects() throws {
        let address = try #require(AssetAddress(url: "https://example.org/a"))
        #expect(address.redirected(to: "/b")?.path == "/b")
        #expect(address.redirected(to: "https://other.example/c")?.host == "other.example")
        #expect(address.redirected(to: "http://example.org/a") == nil)
        #expect(address.redirected(to: "file:///etc/passwd") == nil)
    }

    @Test("A URL that leads to this machine or a private network is refused before anything is sent")
    func forbidden() async throws {
        for url in ["http://127.0.0.1:8080/a", "http://[::1]:8080/a", "http://10.0.0.1/a", "http://169.254.169.254/a"] {
            await #expect(throws: AssetError.self, "\(url)") {
                try await AssetFetch().fetch(url: url, on: MultiThreadedEventLoopGroup.singleton.next()).get()
            }
        }
    }
}
