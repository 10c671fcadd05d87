import Media
import NIOCore

extension Segmenter {
    mutating func take(picture packet: MediaPacket, isKey: Bool, isDisposable: Bool) -> [SegmenterOutput] {
        let payload = packet.payload
        guard let video = wanted.video, Self.timestamps.contains(packet.timestamp),
            NALUnits.areWellFormed(in: payload, lengthSize: video.nalLengthSize)
        else { return drop() }

        var time = packet.timestamp * ProgramFormat.videoTicksPerMillisecond
        if let open = current, !open.isAudioOnly {
            // Pictures of one millisecond follow each other by a tick.
            let isSameMillisecond = (0..<ProgramFormat.videoTicksPerMillisecond).contains(open.newest - time)
            if isSameMillisecond { time = open.newest + 1 }
            let hasHole = time - open.start > open.ticks(milliseconds: configuration.latestCutMilliseconds)
            if time < open.newest || hasHole { mustRestart = true }
        }
        let picture = MovieFragment.Picture(
            time: time,
            compositionOffset: Int32(
                clamping: Int64(packet.compositionOffset) * ProgramFormat.videoTicksPerMillisecond
            ),
            isKey: isKey,
            isDisposable: isDisposable,
            payload: payload
        )
        guard let open = current, !mustRestart, open.format.video == video, !isKey || open.format == wanted else {
            return isKey ? restart(at: picture, timestamp: packet.timestamp) : drop()
        }
        return add(picture, to: open)
    }

    private mutating func add(_ picture: MovieFragment.Picture, to open: OpenSegment) -> [SegmenterOutput] {
        let age = picture.time - open.start
        let latest = open.ticks(milliseconds: configuration.latestCutMilliseconds)
        let earliest = open.ticks(milliseconds: configuration.earliestCutMilliseconds)
        let partTarget = open.ticks(milliseconds: configuration.partTargetMilliseconds)
        let isFull = open.byteCount > configuration.maximumSegmentBytes
        pictureInterval = picture.time - open.newest

        var output = fillParts(until: picture.time)
        let partAge = picture.time - (current?.partStart ?? open.partStart)
        let isPartOver = partAge + pictureInterval > partTarget || picture.isKey

        // A segment that had to begin without a key picture ends at the first one, so that segments and groups of
        // pictures fall in step again.
        let isBoundary = picture.isKey && (age >= earliest || !open.isIndependent)
        if isBoundary || age + pictureInterval > latest || isFull {
            output += cutSegment(at: picture.time, isIndependent: picture.isKey)
        } else if isPartOver && OpenSegment.isLongEnough(partAge, of: partTarget)
            || open.fragment.pictures.count >= Self.maximumPicturesOfPart
        {
            output += cutPart(at: picture.time)
        }
        current?.append(picture)
        return output
    }

    /// A part of a third of a second has about 20 pictures; more than this is a feed whose clock stands still.
    private static let maximumPicturesOfPart = 512

    /// Sounds up to this much older than the first key picture belong to it: interleaving, and an encoder's lead-in.
    private static let leadIn: Int64 = 100

    /// Begins anew with a key picture, in the format that is wanted now.
    private mutating func restart(at picture: MovieFragment.Picture, timestamp: Int64) -> [SegmenterOutput] {
        var output = closeSegment(before: mustRestart ? nil : picture.time)
        output += openSegment(at: picture.time, isIndependent: true)
        current?.append(picture)
        let sounds = held
        held.removeAll()
        for sound in sounds {
            if sound.timestamp >= timestamp - Self.leadIn {
                output += take(sound: sound)
            } else {
                droppedPackets += 1
            }
        }
        return output
    }
}
