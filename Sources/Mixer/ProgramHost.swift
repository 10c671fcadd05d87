import Codecs
import Synchronization

/// One host as the program's thread sees it: what is shown of it, and what is heard.
///
/// A class, so that the dictionary of hosts hands out references and nothing is moved per quantum.
final class ProgramHost {
    let input: HostInput
    var sound = HostSound()
    private var selector = PictureSelector()
    private var current: Picture?
    private var serial: Int64 = 0
    private var presence = PicturePresence()
    private var offset: Double?
    private var rate = 0.0
    var isLeaving = false
    /// Nothing of the host may be seen, whether it has a tile or not; nothing that comes meanwhile ever is.
    var isConcealed = false {
        didSet {
            guard isConcealed != oldValue else { return }
            input.conceal(isConcealed)
            guard isConcealed else { return }
            current = nil
            presence = PicturePresence()
        }
    }

    init(_ input: HostInput) {
        self.input = input
    }

    /// It has left and is no longer heard.
    var hasGone: Bool { isLeaving && sound.isSilent }

    /// Takes the host's next quantum of sound, which begins at program time `time` (ms); `now` is when.
    func takeSound(time: Double, now: Double, isLevelling: Bool) {
        let present = input.advance(to: now, isHeard: sound.isAudible)
        (offset, rate) = (present.offset, present.rate)
        sound.permission = present.permission
        sound.read(from: input, offset: offset, rate: rate, time: time, isLevelling: isLevelling)
    }

    /// How loud it was since the last call, and what of it is decoded at `now` (milliseconds).
    func signal(at now: Double) -> HostSignal {
        let (pictures, soundEnd) = input.media.withLock { media in
            (
                media.pictureCount + media.hiddenPictures,
                media.sound.headTime.map { $0 + Double(media.sound.count) / 48 }
            )
        }
        return sound.signal(of: input, pictures: pictures, soundEnd: soundEnd, now: now)
    }

    /// What the host's tile shows for the picture that begins at `sample`.
    ///
    /// - Parameters:
    ///   - time: The same in milliseconds of program time.
    ///   - interval: Milliseconds from one picture to the next.
    ///   - place: The tile.
    func show(at sample: Int64, time: Double, interval: Double, in place: TilePlan.Place) -> TileContent {
        let selected = offset.flatMap { offset in
            input.media.withLock { media -> Picture? in
                guard current != nil || !media.pictures.isEmpty else { return nil }
                return selector.select(from: &media.pictures, hostTime: time - offset, interval: interval)
            }
        }
        if let selected {
            current = selected
            serial += 1
        }
        let look = presence.advance(
            to: sample,
            hasNew: selected != nil,
            isConcealed: place.isConcealed || isConcealed,
            isScreen: place.isScreen
        )
        if look == .absent { current = nil }
        return TileContent(picture: current, serial: current == nil ? 0 : serial, look: look)
    }

    func statistics(at now: Double) -> MixerStatistics.Host {
        var host = input.statistics(at: now)
        host.picturesDropped += selector.dropped
        host.picturesRepeated = selector.repeated
        host.soundGaps = sound.gaps
        host.soundSkips = sound.skips
        host.decodeErrors += sound.errors
        return host
    }
}
