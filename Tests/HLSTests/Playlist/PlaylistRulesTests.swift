import HLS
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Low-latency playlist rules", .enabled(if: TestRun.isFull))
struct PlaylistRulesTests {
    /// Feeds the packets one by one and checks each playlist by itself, against the previous one and its delta update.
    ///
    /// - Returns: The number of playlists.
    private func follow(
        _ packets: [MediaPacket],
        _ broadcast: inout Broadcast,
        _ previous: inout ParsedPlaylist?
    ) throws -> Int {
        var count = 0
        for packet in packets {
            let before = broadcast.parts.count
            broadcast.feed([packet])
            guard broadcast.parts.count > before, broadcast.playlist.isPlayable else { continue }
            count += 1
            let whole = try ParsedPlaylist(String(buffer: broadcast.playlist.render(prefix: "e/", isLowLatency: true)))
            #expect(PlaylistRules.violations(whole) == [])
            if let previous { #expect(PlaylistRules.violations(previous, then: whole) == []) }
            let text = String(buffer: broadcast.playlist.render(prefix: "e/", isLowLatency: true, isDelta: true))
            #expect(PlaylistRules.violations(delta: try ParsedPlaylist(text), of: whole) == [])
            previous = whole
        }
        return count
    }

    @Test("hold at any frame rate", arguments: [2, 5, 8, 12, 15, 24, 25, 29.97, 30, 60])
    func rates(rate: Double) throws {
        var broadcast = Broadcast(HLSConfiguration())
        var previous: ParsedPlaylist?
        let packets = SyntheticProgram.frames(rate: rate, seconds: 36)
        let count = try follow(packets, &broadcast, &previous)
        #expect(count > 60)
        #expect(broadcast.playlist.mediaSequence > 5)
    }

    @Test("hold for audio only")
    func audioOnly() throws {
        var broadcast = Broadcast(HLSConfiguration())
        var previous: ParsedPlaylist?
        let packets = [SyntheticProgram.audioConfiguration] + SyntheticProgram.audioFrames(seconds: 45)
        let count = try follow(packets, &broadcast, &previous)
        #expect(count > 100)
        #expect(previous?.parts.allSatisfy { $0.isIndependent } == true)
    }

    @Test("hold across discontinuities until they have left the list")
    func discontinuities() throws {
        var broadcast = Broadcast(HLSConfiguration(windowLength: 5, graceLength: 2))
        var previous: ParsedPlaylist?
        for (start, length) in [(0, 7.3), (9_000, 1.1), (11_000, 4), (16_500, 30)] {
            let packets = SyntheticProgram.frames(from: Int64(start), rate: 30, seconds: length)
            let count = try follow(packets, &broadcast, &previous)
            #expect(count > 0)
            broadcast.segmenter.discontinuity()
        }
        #expect(broadcast.segments.filter(\.isDiscontinuity).count == 3)
        #expect(broadcast.playlist.discontinuitySequence == 3)
    }

    @Test("hold when the frame rate halves, stops for a while and recovers")
    func unevenFrames() throws {
        var broadcast = Broadcast(HLSConfiguration())
        var previous: ParsedPlaylist?
        var packets = SyntheticProgram.frames(rate: 30, seconds: 7)
        packets += SyntheticProgram.frames(from: 7_000, rate: 15, seconds: 4).dropFirst(2)
        packets += SyntheticProgram.frames(from: 11_300, rate: 30, seconds: 9).dropFirst(2)
        let count = try follow(packets, &broadcast, &previous)
        #expect(count > 40)
        #expect(broadcast.segmenter.droppedPackets == 0)
        #expect(broadcast.segments.count { $0.isDiscontinuity } == 0)
        for part in broadcast.parts { #expect(part.duration <= 0.202) }
    }

    @Test("fill a gap longer than a part with empty parts within the target")
    func holes() throws {
        var broadcast = Broadcast(HLSConfiguration())
        let before = SyntheticProgram.program(frames: 20, withAudio: false)
        let after = SyntheticProgram.program(from: 1_900, frames: 60, withAudio: false, withConfiguration: false)
        broadcast.feed(before + after)
        let parts = broadcast.parts.filter { $0.sequence == 0 }
        for part in broadcast.parts { #expect(part.duration <= 0.202) }
        for (part, next) in zip(parts, parts.dropFirst()) {
            #expect(abs(part.start + part.duration - next.start) < 0.000_1)
        }
        let frames = try parts.map { try Fragment($0.data).video?.sizes.count ?? 0 }
        #expect(frames.reduce(0, +) == 20)
        #expect(frames.contains(0))
        #expect(abs(parts.reduce(0) { $0 + $1.duration } - broadcast.segments[0].duration) < 0.000_1)
        #expect(broadcast.segments[0].parts == parts.map(\.data))
    }

    @Test("begin a part with a keyframe unless the previous one becomes too short")
    func keyframes() {
        var broadcast = Broadcast(HLSConfiguration())
        broadcast.feed(SyntheticProgram.frames(rate: 25, seconds: 9, keyInterval: 0.92))
        let independent = broadcast.parts.filter(\.isIndependent)
        #expect(independent.count >= 9)
        #expect(broadcast.parts.filter { $0.index == 0 }.allSatisfy { $0.isIndependent })
        // Exactly the parts with a keyframe are independent.
        for part in broadcast.parts {
            let frames = (try? Fragment(part.data).video?.flags) ?? []
            #expect(frames.contains { $0 & (1 << 16) == 0 } == part.isIndependent)
        }
    }

    @Test("end the list once, without a preload hint")
    func end() throws {
        var broadcast = Broadcast(HLSConfiguration())
        var previous: ParsedPlaylist?
        _ = try follow(SyntheticProgram.frames(rate: 30, seconds: 31.5), &broadcast, &previous)
        broadcast.finish()
        for isDelta in [false, true] {
            let text = String(
                buffer: broadcast.playlist.render(prefix: "e/", isLowLatency: true, isDelta: isDelta)
            )
            let ended = try ParsedPlaylist(text)
            #expect(ended.isEnded && ended.skipped == 0)
            #expect(PlaylistRules.violations(ended) == [])
        }
    }

    @Test("share the buffers of parts and segments and store no more than window and grace period")
    func memory() {
        let configuration = HLSConfiguration(windowLength: 4, graceLength: 2)
        var broadcast = Broadcast(configuration)
        broadcast.feed(SyntheticProgram.frames(rate: 30, seconds: 60))
        let stored = broadcast.segments.suffix(6).reduce(0) { $0 + $1.byteCount }
        let open = broadcast.parts.filter { $0.sequence == broadcast.playlist.nextPart.sequence }
        #expect(broadcast.playlist.storedBytes == stored + open.reduce(0) { $0 + $1.data.readableBytes })
        for (segment, part) in zip(broadcast.segments.suffix(1), broadcast.parts.filter { $0.index == 0 }.suffix(2)) {
            let pair = (segment.parts[0], part.data)
            let isShared = pair.0.withUnsafeReadableBytes { left in
                pair.1.withUnsafeReadableBytes { left.baseAddress == $0.baseAddress }
            }
            #expect(isShared)
        }
    }
}
