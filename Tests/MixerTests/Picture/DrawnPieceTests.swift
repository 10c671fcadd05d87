import Codecs
import NIOCore
import Stage
import Synchronization
import Testing

@testable import Mixer

@Suite("What is drawn beside the program") struct DrawnPieceTests {
    private let shelf = AssetShelf()
    private let card = Overlay.personCard(PersonCard(name: "Ada", avatar: "asset:a", width: 64, height: 36))
    private let tag = Overlay.nameTag(NameTag(name: "Ada", tileWidth: 320, tileHeight: 180))

    private func image(_ colour: YUVColour) throws -> ByteBuffer {
        let canvas = try Canvas(width: 16, height: 16)
        canvas.fill(canvas.bounds, colour)
        return try canvas.png()
    }

    @Test("What was drawn while its file was replaced is not taken in: nobody knows which of the two it shows")
    func replaced() throws {
        let wardrobe = Wardrobe(shelf)
        shelf.put(try image(.red), for: "asset:a")
        let (first, name) = (wardrobe.piece(card), wardrobe.piece(tag))
        #expect(wardrobe.ask(for: [first, name]))
        while wardrobe.drawNext() {}
        shelf.put(try image(.blue), for: "asset:a")
        #expect(wardrobe.takeIn() == [name])
        #expect(wardrobe.drawn(first) == nil && wardrobe.drawn(name) != nil)
        let second = wardrobe.piece(card)
        #expect(second != first)
        #expect(wardrobe.ask(for: [second, name]))
        while wardrobe.drawNext() {}
        #expect(wardrobe.takeIn() == [second] && wardrobe.version == 2)
    }

    @Test("Of a file that cannot be drawn it is told once, and why; of another one of its name again")
    func useless() throws {
        let told = Mutex<[String]>([])
        let shelf = AssetShelf { name, reason in told.withLock { $0.append("\(name): \(reason)") } }
        let wardrobe = Wardrobe(shelf)
        shelf.put(ByteBuffer(string: "no image at all"), for: "asset:a")
        let large = Overlay.personCard(PersonCard(name: "Ada", avatar: "asset:a", width: 320, height: 180))
        wardrobe.takeIn(drawing: [wardrobe.piece(card), wardrobe.piece(large)])
        #expect(told.withLock { $0 } == ["asset:a: not an image of a known kind"])
        shelf.put(try image(.red), for: "asset:a")
        wardrobe.takeIn(drawing: [wardrobe.piece(card)])
        #expect(told.withLock { $0.count } == 1)
        shelf.put(ByteBuffer(string: "GIF89a"), for: "asset:a")
        wardrobe.takeIn(drawing: [wardrobe.piece(card)])
        #expect(told.withLock { $0.count } == 2)
    }

    @Test("What is uploaded without a word of refusal is not too large to be drawn")
    func limits() {
        #expect(Asset.longestSide == ImageLimits.side)
    }

    @Test("What another program drew is drawn on demand, in the order in which it was taken in there")
    func onDemand() throws {
        let wardrobe = Wardrobe(shelf)
        let pieces = [wardrobe.piece(tag), wardrobe.piece(card)]
        #expect(wardrobe.ask(for: Set(pieces)))
        wardrobe.takeIn(drawing: pieces)
        let serials = pieces.map { wardrobe.drawn($0)??.serial }
        #expect(serials == [1, 2] && wardrobe.version == 1)
        #expect(!wardrobe.ask(for: Set(pieces)))
    }

    @Test("Of what is not wanted any more, what was drawn first goes first")
    func spare() {
        let wardrobe = Wardrobe(shelf)
        let pieces = (0..<60).map { number in
            wardrobe.piece(.nameTag(NameTag(name: "\(number)", tileWidth: 320, tileHeight: 180)))
        }
        wardrobe.takeIn(drawing: pieces)
        _ = wardrobe.ask(for: Set(pieces))
        _ = wardrobe.ask(for: [])
        let kept = pieces.indices.filter { wardrobe.drawn(pieces[$0]) != nil }
        #expect(kept == Array(12..<60))
    }
}
