import Codecs
import NIOCore
import Testing

@testable import Mixer

@Suite("What is drawn for scenes, and how often") struct WardrobeTests {
    private let assets: AssetShelf
    private let wardrobe: Wardrobe

    init() {
        assets = AssetShelf()
        wardrobe = Wardrobe(assets)
    }

    private func tag(_ name: String) -> Overlay {
        .nameTag(NameTag(name: name, isMicrophoneOn: true, tileWidth: 160, tileHeight: 90))
    }

    private func ask(for overlays: [Overlay]) -> Bool {
        wardrobe.ask(for: Set(overlays.map(wardrobe.piece)))
    }

    /// Draws all that waits; returns how much that was.
    private func draw() -> Int {
        var count = 0
        while wardrobe.drawNext() { count += 1 }
        return count
    }

    private func file(_ colour: YUVColour) throws -> Canvas {
        let canvas = try Canvas(width: 32, height: 32)
        canvas.fill(canvas.bounds, colour)
        return canvas
    }

    @Test("each piece is drawn once, however many scenes want it, and is there when it is taken in")
    func once() throws {
        #expect(ask(for: [tag("Ada"), tag("Ben")]))
        #expect(draw() == 2)
        #expect(wardrobe.drawn(wardrobe.piece(tag("Ada"))) == nil && wardrobe.version == 0)
        #expect(Set(wardrobe.takeIn()) == Set([tag("Ada"), tag("Ben")].map(wardrobe.piece)) && wardrobe.version == 1)
        let ada = try #require(wardrobe.drawn(wardrobe.piece(tag("Ada"))) ?? nil)
        for _ in 0..<5 { #expect(!ask(for: [tag("Ada"), tag("Ben")])) }
        // Off and on again, as microphones go.
        #expect(!ask(for: [tag("Ben")]) && !ask(for: [tag("Ada"), tag("Ben")]))
        #expect(draw() == 0 && wardrobe.takeIn().isEmpty && wardrobe.version == 1)
        #expect(try #require(wardrobe.drawn(wardrobe.piece(tag("Ada"))) ?? nil).serial == ada.serial)
        #expect(ask(for: [tag("Ada"), tag("Eve")]))
        #expect(draw() == 1)
    }

    @Test("what is not wanted is kept for a while and not without end; what is wanted is never let go")
    func kept() {
        for number in 0..<200 {
            _ = ask(for: [tag("always"), tag("guest \(number)")])
            #expect(draw() == (number == 0 ? 2 : 1), "\(number)")
            _ = wardrobe.takeIn()
        }
        #expect(wardrobe.drawn(wardrobe.piece(tag("always"))) != nil)
        let kept = (0..<200).count { wardrobe.drawn(wardrobe.piece(tag("guest \($0)"))) != nil }
        #expect((40...60).contains(kept), "\(kept)")
        #expect(ask(for: [tag("always"), tag("guest 0")]) && draw() == 1)
    }

    @Test("a file that is taken back leaves what there was without it, and room for others")
    func takenBack() throws {
        let logo = Overlay.logo(LogoOverlay(asset: "asset:sign", height: 16, mostWidth: 64))
        assets.put(try file(.red).png(), for: "asset:sign")
        let (version, piece) = (assets.version, wardrobe.piece(logo))
        assets.put(ByteBuffer(), for: "asset:sign")
        #expect(assets.asset("asset:sign") == nil && assets.version > version)
        #expect(wardrobe.piece(logo) != piece && wardrobe.piece(logo).assetVersion == 0)
        for number in 0..<AssetShelf.limits.count {
            assets.put(ByteBuffer(string: "x"), for: "\(number)")
            assets.put(ByteBuffer(), for: "none \(number)")
        }
        #expect(assets.asset("0") != nil)
    }

    @Test("another file of the same name is another piece; without one, or with half of one, there is nothing")
    func files() throws {
        let logo = Overlay.logo(LogoOverlay(asset: "asset:sign", height: 16, mostWidth: 64))
        func drawn() -> OverlayPicture? { (wardrobe.drawn(wardrobe.piece(logo)) ?? nil)?.overlay }
        #expect(ask(for: [logo]) && draw() == 1)
        #expect(wardrobe.takeIn() == [wardrobe.piece(logo)] && drawn() == nil && !ask(for: [logo]))
        for colour in [YUVColour.red, .blue] {
            assets.put(try file(colour).png(), for: "asset:sign")
            #expect(drawn() == nil && ask(for: [logo]) && draw() == 1)
            _ = wardrobe.takeIn()
            #expect(isNear(try #require(drawn()?.colour(x: 8, y: 8)), colour) && !ask(for: [logo]))
        }
        assets.put(try file(.black).jpeg().getSlice(at: 0, length: 40) ?? .init(), for: "asset:sign")
        #expect(ask(for: [logo]) && draw() == 1)
        _ = wardrobe.takeIn()
        #expect(drawn() == nil && draw() == 0)
    }
}
