import Codecs
import Synchronization

/// One host as the program's thread sees it: what is shown of it, and what is heard.
///
/// A class, so that the dictionary of hosts hands out references and nothing is moved per quantum.
final class ProgramHost {
    /// A picture stays this many milliseconds after the last one came, then the tile shows its colour.
    static let hold = 2000.0

    let input: HostInput
    /// Nil when no stretcher could be had; then the host is seen and not heard.
    private var reader: SoundReader?
    private var selector = PictureSelector()
    private var current: Picture?
    private var serial: Int64 = 0
    private var lastPictureAt = 0.0
    private var offset: Double?
    private var rate = 0.0
    private var soundErrors: Int64 = 0
    var gain = GainRamp()
    var meter = SignalMeter()
    var isLeaving = false

    init(_ input: HostInput) {
        self.input = input
        do {
            reader = try SoundReader()
        } catch {
            reader = nil
            soundErrors = 1
        }
    }

    /// It has left and is no longer heard.
    var hasGone: Bool { isLeaving && gain.isSilent }

    /// Adds the host's next quantum of sound, which begins at program time `time` (ms), to `sum`; `now` is when.
    func addSound(
        to sum: borrowing StereoBuffer,
        scratch: borrowing StereoBuffer,
        time: Double,
        now: Double
    ) {
        (offset, rate) = input.advance(to: now)
        let (offset, rate) = (offset, rate)
        let wasRead = input.media.withLock { media in
            guard reader != nil else { return false }
            do {
                try reader?.read(
                    from: &media.sound,
                    offset: offset,
                    rate: rate,
                    time: time,
                    left: scratch.left,
                    right: scratch.right
                )
                return true
            } catch {
                return false
            }
        }
        guard wasRead else {
            soundErrors += 1
            return
        }
        meter.add(scratch.left, scratch.right, count: ProgramTime.quantum)
        gain.add(scratch.left, scratch.right, to: sum.left, sum.right, count: ProgramTime.quantum)
    }

    /// How loud it was since the last call, and what of it is decoded at `now` (milliseconds).
    func signal(at now: Double) -> HostSignal {
        let (pictures, soundEnd) = input.media.withLock { media in
            (media.pictureCount, media.sound.headTime.map { $0 + Double(media.sound.count) / 48 })
        }
        return meter.read(id: input.id, pictures: pictures, soundEnd: soundEnd, now: now)
    }

    /// What the host's tile shows at program time `time` (ms) for a picture of `interval` ms.
    func show(at time: Double, interval: Double) -> Compositor.Content {
        guard let offset else { return .empty }
        let selected = input.media.withLock { media -> Picture? in
            guard current != nil || !media.pictures.isEmpty else { return nil }
            return selector.select(from: &media.pictures, hostTime: time - offset, interval: interval)
        }
        if let selected {
            current = selected
            serial += 1
            lastPictureAt = time
        } else if time - lastPictureAt > Self.hold {
            current = nil
        }
        return Compositor.Content(picture: current, serial: serial)
    }

    func statistics(at now: Double) -> MixerStatistics.Host {
        var host = input.statistics(at: now)
        host.picturesDropped += selector.dropped
        host.picturesRepeated = selector.repeated
        host.soundGaps = reader?.gaps ?? 0
        host.soundSkips = reader?.skips ?? 0
        host.decodeErrors += soundErrors
        return host
    }
}
