import Codecs
import DequeModule

/// Buffers a host's decoded frames and audio between its decode thread and the program's thread; guarded by a lock.
struct DecodedMedia: ~Copyable, Sendable {
    /// The maximum number of frames; decoding runs only a little ahead, so more than a few are late already.
    private static let maximumFrames = 32

    var frames = Deque<VideoFrame>()
    /// Frames decoded to catch up after the host got a tile again; not shown until all of them are decoded.
    ///
    /// Empty at all other times.
    private var catchUpFrames = Deque<VideoFrame>()
    /// Whether the host is catching up.
    private var isCatchingUp = false
    /// The number of the last reappearance whose undecoded frames are all decoded.
    var reappearances = 0
    var audio = HostAudioBuffer()
    var frameCount: Int64 = 0
    /// Frames that came while the host had no tile, and were not decoded.
    var undecodedFrames: Int64 = 0
    private(set) var overflowed: Int64 = 0
    /// Whether the host's video may not be shown: its frames are counted and discarded.
    private var isConcealed = false
    /// Frames up to this host time in milliseconds came while the host was concealed.
    private var concealedUntil = Int64.min
    var decodeErrors: Int64 = 0
    var decodeSeconds = 0.0
    /// Seconds for downscaling frames while decoding.
    var downscaleSeconds = 0.0
    var audioSeconds = 0.0
    /// Processor seconds of the whole decode thread.
    var threadSeconds = 0.0

    init() {}

    mutating func append(_ frame: VideoFrame) {
        frameCount += 1
        guard !isConcealed, frame.presentationTimestamp > concealedUntil else { return }
        overflowed += isCatchingUp ? Self.append(frame, to: &catchUpFrames) : Self.append(frame, to: &frames)
    }

    /// Appends a frame and returns how many were dropped to make room.
    private static func append(_ frame: VideoFrame, to queue: inout Deque<VideoFrame>) -> Int64 {
        var dropped: Int64 = 0
        if queue.count == maximumFrames, queue.popFirst() != nil { dropped = 1 }
        queue.append(frame)
        return dropped
    }

    /// Buffers frames separately from now on, until `finishCatchUp`.
    mutating func beginCatchUp() { isCatchingUp = true }

    /// Replaces the earlier frames by those decoded to catch up.
    mutating func finishCatchUp() {
        guard isCatchingUp else { return }
        isCatchingUp = false
        swap(&frames, &catchUpFrames)
        catchUpFrames.removeAll(keepingCapacity: true)
    }

    /// Discards frames before a keyframe of a host without a tile; only the last may still be on screen.
    mutating func discardBeforeKeyframe() {
        guard !isCatchingUp else { return catchUpFrames.removeAll(keepingCapacity: true) }
        frames.removeFirst(max(frames.count - 1, 0))
    }

    /// Stops showing the host's video and discards the buffered frames.
    mutating func conceal() {
        isConcealed = true
        frames.removeAll(keepingCapacity: true)
        catchUpFrames.removeAll(keepingCapacity: true)
    }

    /// Allows frames that come from now on to be shown.
    ///
    /// - Parameter newest: The last frame that has arrived, decoded or not, in the host's milliseconds.
    mutating func reveal(after newest: Int64?) {
        isConcealed = false
        if let newest { concealedUntil = newest }
    }
}
