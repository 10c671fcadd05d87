import NIOCore

/// The segment being built.
///
/// Times are ticks of the leading track: the video track, or the audio track in audio-only programs.
struct OpenSegment {
    let sequence: Int
    let format: ProgramFormat
    let initialization: String
    let isDiscontinuity: Bool
    let isIndependent: Bool
    let start: Int64

    private(set) var parts: [ByteBuffer] = []
    // The open part and its start.
    private(set) var fragment = MovieFragment()
    private(set) var partStart: Int64
    /// The time of the newest video sample, or of the newest audio sample in audio-only programs.
    private(set) var newest: Int64
    private var finishedBytes = 0

    init(
        sequence: Int,
        format: ProgramFormat,
        initialization: String,
        start: Int64,
        isIndependent: Bool,
        isDiscontinuity: Bool
    ) {
        self.sequence = sequence
        self.format = format
        self.initialization = initialization
        self.start = start
        self.isIndependent = isIndependent
        self.isDiscontinuity = isDiscontinuity
        partStart = start
        newest = start
    }

    var isAudioOnly: Bool { format.video == nil }

    /// Ticks per second of the leading track.
    var timescale: Int64 { Int64(isAudioOnly ? format.audioTimescale : ProgramFormat.videoTimescale) }

    var byteCount: Int { finishedBytes + fragment.byteCount }

    func ticks(milliseconds: Int64) -> Int64 { milliseconds * timescale / 1000 }

    mutating func append(_ video: MovieFragment.VideoSample) {
        fragment.append(video)
        newest = video.time
    }

    mutating func append(_ audio: MovieFragment.AudioSample) {
        fragment.append(audio)
        if isAudioOnly { newest = audio.time }
    }

    /// Finishes parts until the open one is within the maximum duration, given that the next sample begins at `time`.
    ///
    /// A part ends before its newest video sample if it is then long enough, otherwise exactly at the maximum; its last
    /// sample then extends into the next part, and a long gap yields parts without samples.
    ///
    /// - Parameters:
    ///   - longest: The maximum part duration in ticks.
    ///   - count: The fragment counter.
    mutating func fill(until time: Int64, longest: Int64, count: inout UInt32, audioFrameDuration: Int64) -> [Part] {
        var finished: [Part] = []
        while time - partStart > max(longest, 1) {
            if Self.isLongEnough(newest - partStart, of: longest), let video = fragment.removeNewestVideoSample() {
                finished.append(finishPart(at: video.time, mediaEnd: video.time, &count, audioFrameDuration))
                fragment.append(video)
            } else {
                finished.append(finishPart(at: partStart + longest, mediaEnd: time, &count, audioFrameDuration))
            }
        }
        return finished
    }

    /// Finishes the open part at the start of the next sample; several parts if one would be too long.
    mutating func finishParts(at end: Int64, longest: Int64, count: inout UInt32, audioFrameDuration: Int64) -> [Part] {
        var finished = fill(until: end, longest: longest, count: &count, audioFrameDuration: audioFrameDuration)
        if end > partStart { finished.append(finishPart(at: end, mediaEnd: end, &count, audioFrameDuration)) }
        return finished
    }

    /// Returns whether a part has at least 85 % of the maximum; shorter ones are restricted (RFC 8216bis 4.4.4.9).
    static func isLongEnough(_ duration: Int64, of longest: Int64) -> Bool { duration * 100 >= longest * 85 }

    private mutating func finishPart(
        at end: Int64,
        mediaEnd: Int64,
        _ count: inout UInt32,
        _ audioFrameDuration: Int64
    ) -> Part {
        count &+= 1
        let isEmpty = fragment.videoSamples.isEmpty && fragment.audioSamples.isEmpty
        let track = isAudioOnly ? ProgramFormat.audioTrack : ProgramFormat.videoTrack
        let data =
            isEmpty
            ? MovieFragment.empty(number: count, track: track, time: partStart)
            : fragment.write(number: count, videoEndTime: mediaEnd, audioFrameDuration: audioFrameDuration)
        let part = Part(
            sequence: sequence,
            index: parts.count,
            data: data,
            start: seconds(partStart),
            duration: seconds(end - partStart),
            isIndependent: isAudioOnly ? !isEmpty : fragment.hasKeyframe,
            isDiscontinuity: isDiscontinuity,
            initialization: initialization
        )
        parts.append(data)
        finishedBytes += data.readableBytes
        fragment = MovieFragment()
        partStart = end
        return part
    }

    /// Returns the finished segment, whose last part ended at `end`.
    func finished(at end: Int64) -> Segment {
        Segment(
            sequence: sequence,
            parts: parts,
            start: seconds(start),
            duration: seconds(end - start),
            isIndependent: isIndependent,
            isDiscontinuity: isDiscontinuity,
            initialization: initialization,
            byteCount: finishedBytes
        )
    }

    private func seconds(_ time: Int64) -> Double { Double(time) / Double(timescale) }
}
