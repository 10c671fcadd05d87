import NIOCore

/// A segment in the making.
///
/// Its times are ticks of the leading track: the video track, or without one the audio track.
struct OpenSegment {
    let sequence: Int
    let format: ProgramFormat
    let initialization: String
    let isDiscontinuity: Bool
    let isIndependent: Bool
    let start: Int64

    private(set) var parts: [ByteBuffer] = []
    /// The part in the making, and when it began.
    private(set) var fragment = MovieFragment()
    private(set) var partStart: Int64
    /// When the newest picture, or without video the newest sound, begins.
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

    mutating func append(_ picture: MovieFragment.Picture) {
        fragment.append(picture)
        newest = picture.time
    }

    mutating func append(_ sound: MovieFragment.Sound) {
        fragment.append(sound)
        if isAudioOnly { newest = sound.time }
    }

    /// Ends parts until the one in the making is not longer than it may be, because what comes next begins at `time`
    /// only.
    ///
    /// A part ends before its newest picture where that leaves it long enough, otherwise exactly where it has to; then
    /// its last picture reaches into the next part, and in a long hole there are parts in which nothing begins.
    ///
    /// - Parameters:
    ///   - longest: Ticks that no part may exceed.
    ///   - count: Counts fragments.
    mutating func fill(until time: Int64, longest: Int64, count: inout UInt32, soundLength: Int64) -> [Part] {
        var finished: [Part] = []
        while time - partStart > max(longest, 1) {
            if Self.isLongEnough(newest - partStart, of: longest), let picture = fragment.removeNewestPicture() {
                finished.append(finishPart(at: picture.time, mediaEnd: picture.time, &count, soundLength))
                fragment.append(picture)
            } else {
                finished.append(finishPart(at: partStart + longest, mediaEnd: time, &count, soundLength))
            }
        }
        return finished
    }

    /// Ends the part in the making where the next picture or sound begins; in several, where one would be too long.
    mutating func finishParts(at end: Int64, longest: Int64, count: inout UInt32, soundLength: Int64) -> [Part] {
        var finished = fill(until: end, longest: longest, count: &count, soundLength: soundLength)
        if end > partStart { finished.append(finishPart(at: end, mediaEnd: end, &count, soundLength)) }
        return finished
    }

    /// Parts shorter than 85 % of the longest are allowed in few places only (RFC 8216bis 4.4.4.9).
    static func isLongEnough(_ duration: Int64, of longest: Int64) -> Bool { duration * 100 >= longest * 85 }

    private mutating func finishPart(
        at end: Int64,
        mediaEnd: Int64,
        _ count: inout UInt32,
        _ soundLength: Int64
    ) -> Part {
        count &+= 1
        let isEmpty = fragment.pictures.isEmpty && fragment.sounds.isEmpty
        let track = isAudioOnly ? ProgramFormat.audioTrack : ProgramFormat.videoTrack
        let data =
            isEmpty
            ? MovieFragment.empty(number: count, track: track, time: partStart)
            : fragment.write(number: count, pictureEnd: mediaEnd, soundLength: soundLength)
        let part = Part(
            sequence: sequence,
            index: parts.count,
            data: data,
            start: seconds(partStart),
            duration: seconds(end - partStart),
            isIndependent: isAudioOnly ? !isEmpty : fragment.hasKeyPicture,
            isDiscontinuity: isDiscontinuity,
            initialization: initialization
        )
        parts.append(data)
        finishedBytes += data.readableBytes
        fragment = MovieFragment()
        partStart = end
        return part
    }

    /// The segment, whose last part ended at `end`.
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
