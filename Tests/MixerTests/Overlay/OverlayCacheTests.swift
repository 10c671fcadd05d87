import Codecs
import NIOCore
import Stage
import Synchronization
import Testing

@testable import Mixer

@Suite("Overlay cache") struct OverlayCacheTests {
    private let assets: AssetCache
    private let overlayCache: OverlayCache

    init() {
        assets = AssetCache()
        overlayCache = OverlayCache(assets)
    }

    private func tag(_ name: String) -> Overlay {
        .nameTag(NameTag(name: name, isMicrophoneOn: true, tileWidth: 160, tileHeight: 90))
    }

    private func ask(for overlays: [Overlay]) -> Bool {
        overlayCache.request(Set(overlays.map(overlayCache.key)))
    }

    /// Renders all pending overlays; returns their number.
    private func draw() -> Int {
        var count = 0
        while overlayCache.renderNext() { count += 1 }
        return count
    }

    private func file(_ colour: YUVColour) throws -> Canvas {
        let canvas = try Canvas(width: 32, height: 32)
        canvas.fill(canvas.bounds, colour)
        return canvas
    }

    @Test("each overlay is rendered once, however many scenes request it, and is there when applied")
    func once() throws {
        #expect(ask(for: [tag("Ada"), tag("Ben")]))
        #expect(draw() == 2)
        #expect(overlayCache.rendered(overlayCache.key(tag("Ada"))) == nil && overlayCache.version == 0)
        #expect(Set(overlayCache.applyRendered()) == Set([tag("Ada"), tag("Ben")].map(overlayCache.key)))
        #expect(overlayCache.version == 1)
        let ada = try #require(overlayCache.rendered(overlayCache.key(tag("Ada"))) ?? nil)
        for _ in 0..<5 { #expect(!ask(for: [tag("Ada"), tag("Ben")])) }
        // Off and on again, as microphones are.
        #expect(!ask(for: [tag("Ben")]) && !ask(for: [tag("Ada"), tag("Ben")]))
        #expect(draw() == 0 && overlayCache.applyRendered().isEmpty && overlayCache.version == 1)
        #expect(try #require(overlayCache.rendered(overlayCache.key(tag("Ada"))) ?? nil).serial == ada.serial)
        #expect(ask(for: [tag("Ada"), tag("Eve")]))
        #expect(draw() == 1)
    }

    @Test("unused overlays are cached up to a limit, and requested ones are never evicted")
    func cached() {
        for number in 0..<200 {
            _ = ask(for: [tag("always"), tag("guest \(number)")])
            #expect(draw() == (number == 0 ? 2 : 1), "\(number)")
            _ = overlayCache.applyRendered()
        }
        #expect(overlayCache.rendered(overlayCache.key(tag("always"))) != nil)
        let cached = (0..<200).count { overlayCache.rendered(overlayCache.key(tag("guest \($0)"))) != nil }
        #expect((40...60).contains(cached), "\(cached)")
        #expect(ask(for: [tag("always"), tag("guest 0")]) && draw() == 1)
    }

    @Test("a withdrawn file leaves the overlay without it, and room for others")
    func withdrawn() throws {
        let logo = Overlay.logo(LogoOverlay(asset: "asset:sign", height: 16, maximumWidth: 64))
        assets.put(try file(.red).png(), for: "asset:sign")
        let (version, key) = (assets.version, overlayCache.key(logo))
        assets.put(ByteBuffer(), for: "asset:sign")
        #expect(assets.asset("asset:sign") == nil && assets.version > version)
        #expect(overlayCache.key(logo) != key && overlayCache.key(logo).assetVersion == 0)
        for number in 0..<AssetCache.limits.count {
            assets.put(ByteBuffer(string: "x"), for: "\(number)")
            assets.put(ByteBuffer(), for: "none \(number)")
        }
        #expect(assets.asset("0") != nil)
    }

    @Test("a replaced file makes another key, and a missing or truncated file renders nothing")
    func files() throws {
        let logo = Overlay.logo(LogoOverlay(asset: "asset:sign", height: 16, maximumWidth: 64))
        func drawn() -> OverlayImage? { (overlayCache.rendered(overlayCache.key(logo)) ?? nil)?.overlay }
        #expect(ask(for: [logo]) && draw() == 1)
        #expect(overlayCache.applyRendered() == [overlayCache.key(logo)] && drawn() == nil && !ask(for: [logo]))
        for colour in [YUVColour.red, .blue] {
            assets.put(try file(colour).png(), for: "asset:sign")
            #expect(drawn() == nil && ask(for: [logo]) && draw() == 1)
            _ = overlayCache.applyRendered()
            #expect(isNear(try #require(drawn()?.colour(x: 8, y: 8)), colour) && !ask(for: [logo]))
        }
        assets.put(try file(.black).jpeg().getSlice(at: 0, length: 40) ?? .init(), for: "asset:sign")
        #expect(ask(for: [logo]) && draw() == 1)
        _ = overlayCache.applyRendered()
        #expect(drawn() == nil && draw() == 0)
    }
}

@Suite("Overlays of provided files") struct OverlayAssetTests {
    private let assets = AssetCache()
    private let card = Overlay.personCard(PersonCard(name: "Ada", avatar: "asset:a", width: 64, height: 36))
    private let tag = Overlay.nameTag(NameTag(name: "Ada", tileWidth: 320, tileHeight: 180))

    private func image(_ colour: YUVColour) throws -> ByteBuffer {
        let canvas = try Canvas(width: 16, height: 16)
        canvas.fill(canvas.bounds, colour)
        return try canvas.png()
    }

    @Test("an overlay rendered while its file was replaced is not applied")
    func replaced() throws {
        let overlayCache = OverlayCache(assets)
        assets.put(try image(.red), for: "asset:a")
        let (first, name) = (overlayCache.key(card), overlayCache.key(tag))
        #expect(overlayCache.request([first, name]))
        while overlayCache.renderNext() {}
        assets.put(try image(.blue), for: "asset:a")
        #expect(overlayCache.applyRendered() == [name])
        #expect(overlayCache.rendered(first) == nil && overlayCache.rendered(name) != nil)
        let second = overlayCache.key(card)
        #expect(second != first)
        #expect(overlayCache.request([second, name]))
        while overlayCache.renderNext() {}
        #expect(overlayCache.applyRendered() == [second] && overlayCache.version == 2)
    }

    @Test("a file that cannot be drawn is reported once with the reason, and a replacement again")
    func unusable() throws {
        let reports = Mutex<[String]>([])
        let assets = AssetCache { name, reason in reports.withLock { $0.append("\(name): \(reason)") } }
        let overlayCache = OverlayCache(assets)
        assets.put(ByteBuffer(string: "no image at all"), for: "asset:a")
        let large = Overlay.personCard(PersonCard(name: "Ada", avatar: "asset:a", width: 320, height: 180))
        overlayCache.render([overlayCache.key(card), overlayCache.key(large)])
        #expect(reports.withLock { $0 } == ["asset:a: not an image of a known kind"])
        assets.put(try image(.red), for: "asset:a")
        overlayCache.render([overlayCache.key(card)])
        #expect(reports.withLock { $0.count } == 1)
        assets.put(ByteBuffer(string: "GIF89a"), for: "asset:a")
        overlayCache.render([overlayCache.key(card)])
        #expect(reports.withLock { $0.count } == 2)
    }

    @Test("an accepted upload is not too large to be drawn")
    func limits() {
        #expect(Asset.longestSide == ImageLimits.side)
    }

    @Test("a replay renders overlays on demand, in the order of the live program")
    func onDemand() throws {
        let overlayCache = OverlayCache(assets)
        let keys = [overlayCache.key(tag), overlayCache.key(card)]
        #expect(overlayCache.request(Set(keys)))
        overlayCache.render(keys)
        let serials = keys.map { overlayCache.rendered($0)??.serial }
        #expect(serials == [1, 2] && overlayCache.version == 1)
        #expect(!overlayCache.request(Set(keys)))
    }

    @Test("of unused overlays, the one rendered first is evicted first")
    func spare() {
        let overlayCache = OverlayCache(assets)
        let keys = (0..<60).map { number in
            overlayCache.key(.nameTag(NameTag(name: "\(number)", tileWidth: 320, tileHeight: 180)))
        }
        overlayCache.render(keys)
        _ = overlayCache.request(Set(keys))
        _ = overlayCache.request([])
        let cached = keys.indices.filter { overlayCache.rendered(keys[$0]) != nil }
        #expect(cached == Array(12..<60))
    }
}
