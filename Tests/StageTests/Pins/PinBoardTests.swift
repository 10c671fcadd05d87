import Testing

@testable import Stage

@Suite("A board of pins")
struct PinBoardTests {
    private func names(_ pins: [Pin]) -> [String] {
        pins.map { $0.participantSID + ($0.isLocal ? "*" : "") }
    }

    @Test("L3 pins for everybody come before one's own, and the newest first")
    func order() {
        var board = PinBoard()
        _ = board.pin("ann", .camera, by: .participant("zoe"), at: 1)
        _ = board.pin("ben", .camera, by: .stage, at: 2)
        _ = board.pin("cat", .camera, by: .stage, at: 3)
        _ = board.pin("dan", .camera, by: .participant("zoe"), at: 4)
        #expect(names(board.pins(seenBy: "zoe")) == ["cat", "ben", "dan*", "ann*"])
    }

    @Test("A pin of one's own is for nobody else, and never for the program")
    func localPins() {
        var board = PinBoard()
        let changes = board.pin("ann", .screen, by: .participant("zoe"), at: 1)
        let pin = Pin(participantSID: "ann", type: .screen, isLocal: true, pinnedAt: 1)
        #expect(changes == [PinChange(participantSID: "ann", pin: pin, viewerSID: "zoe")])
        #expect(board.program.isEmpty)
        #expect(board.pin(of: "ann") == nil)
        #expect(board.pins(seenBy: "ben").isEmpty)
        #expect(board.pins(seenBy: "zoe") == [pin])
    }

    @Test("A pin for everybody outranks one's own on the same host, which is there again when it goes")
    func remoteOutranksLocal() {
        var board = PinBoard()
        _ = board.pin("ann", .camera, by: .participant("zoe"), at: 1)
        _ = board.pin("ann", .screen, by: .stage, at: 2)
        #expect(names(board.pins(seenBy: "zoe")) == ["ann"])
        #expect(board.unpin("ann", by: .stage) == PinChange(participantSID: "ann", pin: nil, viewerSID: nil))
        #expect(names(board.pins(seenBy: "zoe")) == ["ann*"])
    }

    @Test("The same pin again changes nothing; another kind is a new pin in front")
    func again() throws {
        var board = PinBoard()
        #expect(board.pin("ann", .camera, by: .stage, at: 1).count == 1)
        _ = board.pin("ben", .camera, by: .stage, at: 2)
        #expect(board.pin("ann", .camera, by: .stage, at: 3).isEmpty)
        #expect(names(board.program) == ["ben", "ann"])
        #expect(board.pin("ann", .screenAndCamera, by: .stage, at: 4).first?.pin?.type == .screenAndCamera)
        #expect(names(board.program) == ["ann", "ben"])
        #expect(board.program.map(\.pinnedAt) == [4, 2])
    }

    @Test("Taking away what is not there is no change, and nobody takes away what others set")
    func unpin() {
        var board = PinBoard()
        _ = board.pin("ann", .camera, by: .stage, at: 1)
        #expect(board.unpin("ann", by: .participant("zoe")) == nil)
        #expect(board.unpin("ben", by: .stage) == nil)
        #expect(board.pin(of: "ann") != nil)
    }

    @Test("Who steps down has no pin, but keeps the own ones; who leaves has none of either kind")
    func removal() {
        var board = PinBoard()
        _ = board.pin("ann", .camera, by: .stage, at: 1)
        _ = board.pin("ann", .camera, by: .participant("zoe"), at: 2)
        _ = board.pin("zoe", .camera, by: .participant("ann"), at: 3)
        #expect(board.removePins(on: "ann") == PinChange(participantSID: "ann", pin: nil, viewerSID: nil))
        #expect(board.removePins(on: "ann") == nil)
        #expect(names(board.pins(seenBy: "zoe")).isEmpty)
        #expect(names(board.pins(seenBy: "ann")) == ["zoe*"])
        #expect(board.remove("ann") == nil)
        #expect(board == PinBoard())
    }

    @Test("T17 the same person under a new sid keeps the pin for everybody and the own ones")
    func replace() {
        var board = PinBoard()
        _ = board.pin("ann", .screen, by: .stage, at: 1)
        _ = board.pin("ben", .camera, by: .stage, at: 2)
        _ = board.pin("ann", .camera, by: .participant("ann"), at: 3)
        _ = board.pin("cat", .camera, by: .participant("ann"), at: 4)
        _ = board.pin("ann", .camera, by: .participant("zoe"), at: 5)
        board.replace("ann", with: "new")
        #expect(names(board.program) == ["ben", "new"])
        #expect(board.pin(of: "new")?.pinnedAt == 1)
        #expect(names(board.pins(seenBy: "new")) == ["ben", "new", "cat*"])
        #expect(names(board.pins(seenBy: "zoe")) == ["ben", "new"])
        #expect(names(board.pins(seenBy: "ann")) == ["ben", "new"])
        #expect(board.pin("new", .camera, by: .participant("new"), at: 9).isEmpty)
    }

    @Test("One participant has at most twelve pins of its own; the oldest makes room, and its end is told")
    func bounded() {
        var board = PinBoard()
        for number in 1...12 { _ = board.pin("h\(number)", .camera, by: .participant("zoe"), at: Double(number)) }
        let changes = board.pin("h13", .camera, by: .participant("zoe"), at: 13)
        #expect(changes.map(\.participantSID) == ["h13", "h1"])
        #expect(changes.last == PinChange(participantSID: "h1", pin: nil, viewerSID: "zoe"))
        #expect(board.pins(seenBy: "zoe").count == 12)
    }

    @Test("Whatever is pinned and unpinned, each host has one pin at most from each owner, in order of date")
    func laws() {
        var chance = SeededGenerator(seed: 7)
        let sids = (1...6).map { "p\($0)" }
        for _ in 0..<30 {
            var board = PinBoard()
            for step in 1...200 {
                let now = Double(step)
                let sid = sids.randomElement(using: &chance) ?? "p1"
                let owner: PinOwner = Bool.random(using: &chance) ? .stage : .participant("p\(step % 6 + 1)")
                switch Int.random(in: 0..<10, using: &chance) {
                case 0: _ = board.remove(sid)
                case 1: _ = board.removePins(on: sid)
                case 2, 3: _ = board.unpin(sid, by: owner)
                default:
                    _ = board.pin(sid, PinType.allCases.randomElement(using: &chance) ?? .camera, by: owner, at: now)
                }
                for viewer in sids {
                    let seen = board.pins(seenBy: viewer)
                    #expect(Set(seen.map(\.participantSID)).count == seen.count)
                    #expect(Array(seen.prefix(board.program.count)) == board.program)
                    #expect(seen.dropFirst(board.program.count).allSatisfy { $0.isLocal })
                    for kind in [true, false] {
                        let dates = seen.filter { $0.isLocal == kind }.map(\.pinnedAt)
                        #expect(dates == dates.sorted(by: >))
                    }
                }
            }
        }
    }
}
