import Media
import NIOCore

extension Segmenter {
    /// A frame of AAC has at most 768 bytes a channel; anything far beyond is not one.
    private static let maximumSoundBytes = 16_384
    /// Sounds kept while waiting for a key picture: over two seconds.
    private static let maximumHeld = 128
    /// Milliseconds of sound without a video configuration that make a program audio-only.
    private static let audioOnlyPatience: Int64 = 1000

    mutating func take(sound packet: MediaPacket) -> [SegmenterOutput] {
        guard wanted.audio != nil, Self.timestamps.contains(packet.timestamp),
            (1...Self.maximumSoundBytes).contains(packet.payload.readableBytes)
        else { return drop() }
        guard let open = current, !mustRestart, open.format.audio == wanted.audio else {
            return wait(with: packet)
        }
        let latest = open.ticks(milliseconds: configuration.latestCutMilliseconds)
        switch soundClock.place(milliseconds: packet.timestamp) {
        case .at(let time) where open.isAudioOnly:
            guard time - open.start <= latest else { return restartWithoutVideo([packet]) }
            return add(MovieFragment.Sound(time: time, payload: packet.payload), toAudioOnly: open)
        case .at(let time):
            // Pictures have stopped coming. Their segment must not grow with sound alone.
            guard packet.timestamp * ProgramFormat.videoTicksPerMillisecond - open.start <= latest else {
                mustRestart = true
                return closeSegment() + wait(with: packet)
            }
            current?.append(MovieFragment.Sound(time: time, payload: packet.payload))
            return []
        case .backwards where open.isAudioOnly:
            return restartWithoutVideo([packet])
        case .backwards, .overlapping:
            return drop()
        }
    }

    private mutating func add(_ sound: MovieFragment.Sound, toAudioOnly open: OpenSegment) -> [SegmenterOutput] {
        let age = sound.time - open.start
        let partTarget = open.ticks(milliseconds: configuration.partTargetMilliseconds)
        let wantedAge = Int64(configuration.segmentDuration * Double(open.timescale))
        var output = fillParts(until: sound.time)
        let partAge = sound.time - (current?.partStart ?? open.partStart)
        if age + soundClock.length / 2 >= wantedAge || open.byteCount > configuration.maximumSegmentBytes {
            output += cutSegment(at: sound.time, isIndependent: true)
        } else if partAge + soundClock.length > partTarget {
            output += cutPart(at: sound.time)
        }
        current?.append(sound)
        return output
    }

    /// Keeps a sound for the key picture to come, or decides that none will.
    private mutating func wait(with packet: MediaPacket) -> [SegmenterOutput] {
        if let newest = held.last, packet.timestamp < newest.timestamp {
            droppedPackets += held.count
            held.removeAll()
        }
        held.append(packet)
        if held.count > Self.maximumHeld {
            held.removeFirst()
            droppedPackets += 1
        }
        guard wanted.video == nil, let first = held.first else { return [] }
        let isKnownAudioOnly = initialization.map { $0.format.video == nil } ?? false
        guard isKnownAudioOnly || packet.timestamp - first.timestamp >= Self.audioOnlyPatience else { return [] }
        let sounds = held
        held.removeAll()
        return restartWithoutVideo(sounds)
    }

    private mutating func restartWithoutVideo(_ sounds: [MediaPacket]) -> [SegmenterOutput] {
        guard let first = sounds.first, let audio = wanted.audio else { return [] }
        let clock = SoundClock(rate: audio.sampleRate, samplesPerFrame: audio.samplesPerFrame)
        var output = closeSegment()
        output += openSegment(at: clock.tick(milliseconds: first.timestamp), isIndependent: true)
        for sound in sounds { output += take(sound: sound) }
        return output
    }
}
