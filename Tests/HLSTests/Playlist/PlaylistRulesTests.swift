import HLS
import Media
import NIOCore
import Testing

@Suite("Every playlist keeps the rules of low latency")
struct PlaylistRulesTests {
    /// Feeds packet by packet and holds each playlist against the rules, the one before it, and its own delta update.
    ///
    /// - Returns: How many playlists there were.
    private func follow(
        _ packets: [MediaPacket],
        _ broadcast: inout Broadcast,
        _ previous: inout ReadPlaylist?
    ) throws -> Int {
        var count = 0
        for packet in packets {
            let before = broadcast.parts.count
            broadcast.feed([packet])
            guard broadcast.parts.count > before, broadcast.playlist.isPlayable else { continue }
            count += 1
            let whole = try ReadPlaylist(String(buffer: broadcast.playlist.render(prefix: "e/", isLowLatency: true)))
            #expect(PlaylistRules.breaches(whole) == [])
            if let previous { #expect(PlaylistRules.breaches(previous, then: whole) == []) }
            let text = String(buffer: broadcast.playlist.render(prefix: "e/", isLowLatency: true, isDelta: true))
            #expect(PlaylistRules.breaches(delta: try ReadPlaylist(text), of: whole) == [])
            previous = whole
        }
        return count
    }

    @Test("at any rate of pictures", arguments: [2, 5, 8, 12, 15, 24, 25, 29.97, 30, 60])
    func rates(rate: Double) throws {
        var broadcast = Broadcast(HLSConfiguration())
        var previous: ReadPlaylist?
        let packets = SyntheticProgram.pictures(rate: rate, seconds: 36)
        let count = try follow(packets, &broadcast, &previous)
        #expect(count > 60)
        #expect(broadcast.playlist.mediaSequence > 5)
    }

    @Test("with sound alone")
    func audioOnly() throws {
        var broadcast = Broadcast(HLSConfiguration())
        var previous: ReadPlaylist?
        let packets = [SyntheticProgram.audioConfiguration] + SyntheticProgram.sounds(seconds: 45)
        let count = try follow(packets, &broadcast, &previous)
        #expect(count > 100)
        #expect(previous?.parts.allSatisfy { $0.isIndependent } == true)
    }

    @Test("over restarts of the mixer, which are discontinuities, and until they have left the list")
    func discontinuities() throws {
        var broadcast = Broadcast(HLSConfiguration(windowLength: 5, graceLength: 2))
        var previous: ReadPlaylist?
        for (start, length) in [(0, 7.3), (9_000, 1.1), (11_000, 4), (16_500, 30)] {
            let packets = SyntheticProgram.pictures(from: Int64(start), rate: 30, seconds: length)
            let count = try follow(packets, &broadcast, &previous)
            #expect(count > 0)
            broadcast.segmenter.discontinuity()
        }
        #expect(broadcast.segments.filter(\.isDiscontinuity).count == 3)
        #expect(broadcast.playlist.discontinuitySequence == 3)
    }

    @Test("while a mixer that is short of time halves its rate, stands still for a while, and comes back")
    func unevenPictures() throws {
        var broadcast = Broadcast(HLSConfiguration())
        var previous: ReadPlaylist?
        var packets = SyntheticProgram.pictures(rate: 30, seconds: 7)
        packets += SyntheticProgram.pictures(from: 7_000, rate: 15, seconds: 4).dropFirst(2)
        packets += SyntheticProgram.pictures(from: 11_300, rate: 30, seconds: 9).dropFirst(2)
        let count = try follow(packets, &broadcast, &previous)
        #expect(count > 40)
        #expect(broadcast.segmenter.droppedPackets == 0)
        #expect(broadcast.segments.count { $0.isDiscontinuity } == 0)
        for part in broadcast.parts { #expect(part.duration <= 0.202) }
    }

    @Test("a hole longer than a part is filled with parts without media, and no part outlasts the target")
    func holes() throws {
        var broadcast = Broadcast(HLSConfiguration())
        let before = SyntheticProgram.program(pictures: 20, withSound: false)
        let after = SyntheticProgram.program(from: 1_900, pictures: 60, withSound: false, withConfiguration: false)
        broadcast.feed(before + after)
        let parts = broadcast.parts.filter { $0.sequence == 0 }
        for part in broadcast.parts { #expect(part.duration <= 0.202) }
        for (part, next) in zip(parts, parts.dropFirst()) {
            #expect(abs(part.start + part.duration - next.start) < 0.000_1)
        }
        let pictures = try parts.map { try Fragment($0.data).video?.sizes.count ?? 0 }
        #expect(pictures.reduce(0, +) == 20)
        #expect(pictures.contains(0))
        #expect(abs(parts.reduce(0) { $0 + $1.duration } - broadcast.segments[0].duration) < 0.000_1)
        #expect(broadcast.segments[0].parts == parts.map(\.data))
    }

    @Test("a part begins with a key picture where none becomes too short by it")
    func keyPictures() {
        var broadcast = Broadcast(HLSConfiguration())
        broadcast.feed(SyntheticProgram.pictures(rate: 25, seconds: 9, keyInterval: 0.92))
        let independent = broadcast.parts.filter(\.isIndependent)
        #expect(independent.count >= 9)
        #expect(broadcast.parts.filter { $0.index == 0 }.allSatisfy { $0.isIndependent })
        // Exactly those with a key picture are called independent.
        for part in broadcast.parts {
            let pictures = (try? Fragment(part.data).video?.flags) ?? []
            #expect(pictures.contains { $0 & (1 << 16) == 0 } == part.isIndependent)
        }
    }

    @Test("the end of the list is said once, without anything announced behind it")
    func end() throws {
        var broadcast = Broadcast(HLSConfiguration())
        var previous: ReadPlaylist?
        _ = try follow(SyntheticProgram.pictures(rate: 30, seconds: 31.5), &broadcast, &previous)
        broadcast.finish()
        for isDelta in [false, true] {
            let text = String(
                buffer: broadcast.playlist.render(prefix: "e/", isLowLatency: true, isDelta: isDelta)
            )
            let ended = try ReadPlaylist(text)
            #expect(ended.isEnded && ended.skipped == 0)
            #expect(PlaylistRules.breaches(ended) == [])
        }
    }

    @Test("parts are their segment's own bytes, and no more is kept than the window and the grace hold")
    func memory() {
        let configuration = HLSConfiguration(windowLength: 4, graceLength: 2)
        var broadcast = Broadcast(configuration)
        broadcast.feed(SyntheticProgram.pictures(rate: 30, seconds: 60))
        let kept = broadcast.segments.suffix(6).reduce(0) { $0 + $1.byteCount }
        let open = broadcast.parts.filter { $0.sequence == broadcast.playlist.nextPart.sequence }
        #expect(broadcast.playlist.storedBytes == kept + open.reduce(0) { $0 + $1.data.readableBytes })
        for (segment, part) in zip(broadcast.segments.suffix(1), broadcast.parts.filter { $0.index == 0 }.suffix(2)) {
            let pair = (segment.parts[0], part.data)
            let isShared = pair.0.withUnsafeReadableBytes { left in
                pair.1.withUnsafeReadableBytes { left.baseAddress == $0.baseAddress }
            }
            #expect(isShared)
        }
    }
}
