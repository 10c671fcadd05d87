import Logging
import Media
import NIOCore
import NIOEmbedded
import Stage
import Synchronization
import Testing

@testable import MixerProcess

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
