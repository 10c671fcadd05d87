import Codecs
import DequeModule
import Synchronization

/// One host on the program's thread: its current frame and its audio.
///
/// A class, so that the dictionary of hosts hands out references and nothing is moved per quantum.
final class ProgramHost {
    let input: HostInput
    var audio = HostAudio()
    private var selector = FrameSelector()
    private var currentFrame: VideoFrame?
    private var serial: Int64 = 0
    private var tileVisibility = TileVisibility()
    private var offset: Double?
    private var rate = 0.0
    var isLeaving = false
    private var catchUpState: CatchUp?

    /// The state of a host that got a tile again and decodes what it missed.
    private struct CatchUp {
        let number: Int
        /// The program's step count when the host got its tile.
        let began: Int64
        /// Whether the frames decoded earlier were checked; the tile is frozen until the rest is decoded.
        var hasChecked = false
    }

    /// Steps after which a host is shown even if it has not caught up: about a second.
    private static let catchUpTimeout: Int64 = 120

    /// Whether the host's video may not be shown, with or without a tile; frames that arrive meanwhile are discarded.
    var isConcealed = false {
        didSet {
            guard isConcealed != oldValue else { return }
            input.conceal(isConcealed)
            guard isConcealed else { return }
            currentFrame = nil
            tileVisibility = TileVisibility()
        }
    }

    init(_ input: HostInput) {
        self.input = input
    }

    /// Sets how the host is shown.
    ///
    /// - Parameters:
    ///   - time: Program time in milliseconds; nil before there is any.
    ///   - steps: The program's step count.
    func setVisibility(_ visibility: HostVisibility, at time: Double?, steps: Int64) {
        if let number = input.setVisibility(visibility, at: time) {
            catchUpState = CatchUp(number: number, began: steps)
        } else if visibility == .hidden, catchUpState != nil {
            catchUp()
        }
    }

    /// Whether the host got a tile again and its missed frames are not shown yet.
    var isCatchingUp: Bool { catchUpState != nil }

    /// Returns whether the missed frames are decoded, or the timeout has passed.
    func isCaughtUp(after steps: Int64) -> Bool {
        guard let catchUpState else { return false }
        return steps - catchUpState.began >= Self.catchUpTimeout
            || input.media.withLock { $0.reappearances >= catchUpState.number }
    }

    /// Shows the caught-up frames from now on.
    func catchUp() {
        catchUpState = nil
        input.media.withLock { $0.finishCatchUp() }
    }

    /// Whether the host has left and its audio has faded out.
    var isFinished: Bool { isLeaving && audio.isSilent }

    /// Reads the host's next quantum of audio, which begins at program time `time` (ms); `now` is the current time.
    func readAudio(time: Double, now: Double, isLevelling: Bool) {
        let present = input.advance(
            to: now,
            isAudible: audio.program.isAudible,
            isInTalkback: audio.talkback.isAudible
        )
        (offset, rate) = (present.offset, present.rate)
        (audio.program.permission, audio.talkback.permission) = present.permission
        audio.read(from: input, offset: offset, rate: rate, time: time, isLevelling: isLevelling)
    }

    /// Returns the host's level since the last call, and which media is decoded at `now` (milliseconds).
    func signal(at now: Double) -> HostSignal {
        let (frames, audioEnd) = input.media.withLock { media in
            (
                media.frameCount + media.undecodedFrames,
                media.audio.headTime.map { $0 + Double(media.audio.count) / 48 }
            )
        }
        return audio.signal(of: input, frames: frames, audioEnd: audioEnd, now: now)
    }

    /// Returns what the host's tile shows in the frame that begins at `sample`.
    ///
    /// - Parameters:
    ///   - time: The same in milliseconds of program time.
    ///   - interval: Milliseconds from one frame to the next.
    ///   - placement: The tile.
    func show(at sample: Int64, time: Double, interval: Double, in placement: TilePlan.TilePlacement) -> TileContent {
        let isFrozen = catchUpState?.hasChecked ?? false
        catchUpState?.hasChecked = true
        let selected = isFrozen ? nil : selectFrame(time: time, interval: interval)
        if let selected {
            currentFrame = selected
            serial += 1
        }
        let appearance = tileVisibility.advance(
            to: sample,
            hasNew: selected != nil,
            isConcealed: placement.isConcealed || isConcealed,
            isScreen: placement.isScreen
        )
        if appearance == .absent { currentFrame = nil }
        return TileContent(frame: currentFrame, serial: currentFrame == nil ? 0 : serial, appearance: appearance)
    }

    private func selectFrame(time: Double, interval: Double) -> VideoFrame? {
        guard let offset else { return nil }
        return input.media.withLock { media in
            guard currentFrame != nil || !media.frames.isEmpty else { return nil }
            return selector.select(from: &media.frames, hostTime: time - offset, interval: interval)
        }
    }

    func statistics(at now: Double) -> MixerStatistics.Host {
        var host = input.statistics(at: now)
        host.framesDropped += selector.dropped
        host.framesRepeated = selector.repeated
        host.audioGaps = audio.gaps
        host.audioSkips = audio.skips
        host.decodeErrors += audio.errors
        return host
    }
}

/// Selects which of a host's frames a program frame shows: the newest by the middle of its duration, without waiting.
///
/// The decision boundary shifts by a 32nd of a program frame in the direction of the last decision: otherwise, when
/// both rates are equal and the phases happen to meet, the rounding of timestamps to milliseconds would make frames
/// repeat and drop alternately. A larger shift would increase the A/V offset by the same amount; it is 18 ms at most at
/// 30 frames a second.
struct FrameSelector: Sendable {
    private var bias = 0.0
    private(set) var dropped: Int64 = 0
    private(set) var repeated: Int64 = 0

    /// Removes the due frames from `queue` and returns the newest of them; nil when none is due.
    ///
    /// - Parameters:
    ///   - hostTime: The start of the program frame in host time, milliseconds.
    ///   - interval: The duration of a program frame in milliseconds.
    mutating func select(from queue: inout Deque<VideoFrame>, hostTime: Double, interval: Double) -> VideoFrame? {
        let half = interval / 2
        let border = hostTime + half + bias * half / 16
        var count = 0
        var newest: VideoFrame?
        while let next = queue.first, Double(next.presentationTimestamp) <= border {
            newest = queue.popFirst()
            count += 1
        }
        switch count {
        case 0:
            repeated += 1
            bias = -1
        case 1:
            break
        default:
            dropped += Int64(count - 1)
            bias = 1
        }
        return newest
    }
}
