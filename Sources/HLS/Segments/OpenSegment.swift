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

    /// Ends the part in the making where the next picture or sound begins.
    mutating func finishPart(at end: Int64, number: UInt32, soundLength: Int64) -> Part {
        let data = fragment.write(number: number, pictureEnd: end, soundLength: soundLength)
        let part = Part(
            sequence: sequence,
            index: parts.count,
            data: data,
            start: seconds(partStart),
            duration: seconds(end - partStart),
            isIndependent: isAudioOnly || fragment.hasKeyPicture,
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
