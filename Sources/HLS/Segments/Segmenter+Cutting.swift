import Media

extension Segmenter {
    /// Ends the part in the making at `time`, where the next begins.
    mutating func cutPart(at time: Int64) -> [SegmenterOutput] {
        let (longest, length) = (partTarget, soundClock.length)
        let parts = current?.finishParts(at: time, longest: longest, count: &fragmentCount, soundLength: length)
        return (parts ?? []).map(SegmenterOutput.part)
    }

    /// Ends parts so that what begins at `time` has its place in the one in the making.
    mutating func fillParts(until time: Int64) -> [SegmenterOutput] {
        let (longest, length) = (partTarget, soundClock.length)
        let parts = current?.fill(until: time, longest: longest, count: &fragmentCount, soundLength: length)
        return (parts ?? []).map(SegmenterOutput.part)
    }

    /// The longest part, in ticks of the current segment.
    private var partTarget: Int64 { current?.ticks(milliseconds: configuration.partTargetMilliseconds) ?? 0 }

    /// Ends the segment at `time`, and begins the next there.
    mutating func cutSegment(at time: Int64, isIndependent: Bool) -> [SegmenterOutput] {
        var output = cutPart(at: time)
        guard let open = current else { return output }
        output.append(.segment(open.finished(at: time)))
        current = OpenSegment(
            sequence: nextSequence,
            format: open.format,
            initialization: open.initialization,
            start: time,
            isIndependent: isIndependent,
            isDiscontinuity: false
        )
        nextSequence += 1
        return output
    }

    /// Ends the segment with nothing after it: its last picture lasts as long as the one before it did, or until
    /// `next` when that continues the same clock.
    mutating func closeSegment(before next: Int64? = nil) -> [SegmenterOutput] {
        guard let open = current else { return [] }
        let interval = open.isAudioOnly ? soundClock.length : pictureInterval
        let latest = open.start + open.ticks(milliseconds: configuration.latestCutMilliseconds)
        var end = min(open.newest + max(interval, 1), max(latest, open.newest + 1))
        if let next, !open.isAudioOnly, next > open.newest { end = min(next, latest) }
        var output = cutPart(at: end)
        if let open = current { output.append(.segment(open.finished(at: end))) }
        current = nil
        return output
    }

    /// Begins a segment after nothing or after a discontinuity, with a new initialization if the format is new.
    mutating func openSegment(at time: Int64, isIndependent: Bool) -> [SegmenterOutput] {
        var output: [SegmenterOutput] = []
        mustRestart = false
        if initialization?.format != wanted {
            let made = makeInitialization()
            initialization = (made.name, wanted)
            output.append(.initialization(made))
        }
        if let audio = wanted.audio {
            soundClock = SoundClock(rate: audio.sampleRate, samplesPerFrame: audio.samplesPerFrame)
        }
        current = OpenSegment(
            sequence: nextSequence,
            format: wanted,
            initialization: initialization?.name ?? "",
            start: time,
            isIndependent: isIndependent,
            isDiscontinuity: isContinuation || nextSequence > firstSequence
        )
        nextSequence += 1
        return output
    }

    private mutating func makeInitialization() -> Initialization {
        defer { initializationCount += 1 }
        return Initialization(
            name: MediaName.initialization(initializationCount).text,
            data: MovieHeader.write(wanted),
            codecs: wanted.codecs,
            width: wanted.video?.sps.width,
            height: wanted.video?.sps.height,
            frameRate: wanted.video?.sps.frameRate
        )
    }
}
