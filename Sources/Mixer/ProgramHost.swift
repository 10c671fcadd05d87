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
    private var returning: Returning?

    /// A host that comes back from no tile.
    private struct Returning {
        let number: Int
        /// How many steps the program had made.
        let began: Int64
        /// What it had decoded before has been looked at; nothing follows it until the rest is there.
        var isSeen = false
    }

    /// Steps after which a host that comes back is shown as far as it has come: about a second.
    private static let patience: Int64 = 120

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

    /// Says how it is seen.
    ///
    /// - Parameters:
    ///   - time: Program time in milliseconds; nil before there is any.
    ///   - steps: How many the program has made.
    func view(as view: HostView, at time: Double?, steps: Int64) {
        if let number = input.show(as: view, at: time) {
            returning = Returning(number: number, began: steps)
        } else if view == .hidden, returning != nil {
            catchUp()
        }
    }

    /// It comes back from no tile, and what it missed is not shown yet.
    var isReturning: Bool { returning != nil }

    /// Whether what it missed has been decoded, or it is high time.
    func hasCaughtUp(after steps: Int64) -> Bool {
        guard let returning else { return false }
        return steps - returning.began >= Self.patience || input.media.withLock { $0.returns >= returning.number }
    }

    /// Shows from now on what it missed.
    func catchUp() {
        returning = nil
        input.media.withLock { $0.join() }
    }

    /// It has left and is no longer heard.
    var hasGone: Bool { isLeaving && sound.isSilent }

    /// Takes the host's next quantum of sound, which begins at program time `time` (ms); `now` is when.
    func takeSound(time: Double, now: Double, isLevelling: Bool) {
        let present = input.advance(
            to: now,
            isHeard: sound.program.isAudible,
            isHeardByHosts: sound.talkback.isAudible
        )
        (offset, rate) = (present.offset, present.rate)
        (sound.program.permission, sound.talkback.permission) = present.permission
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
        let isHeld = returning?.isSeen ?? false
        returning?.isSeen = true
        let selected = isHeld ? nil : selectPicture(time: time, interval: interval)
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

    private func selectPicture(time: Double, interval: Double) -> Picture? {
        guard let offset else { return nil }
        return input.media.withLock { media in
            guard current != nil || !media.pictures.isEmpty else { return nil }
            return selector.select(from: &media.pictures, hostTime: time - offset, interval: interval)
        }
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
