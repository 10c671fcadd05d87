/// One of the ways on which a host's sound goes into a mix: whether it may be heard there, and how loud it is.
struct SoundLane {
    /// It is to be in the mix.
    var isAudible = false
    /// What of it may be heard now.
    var permission = UnheardSound.Permission.after(nil)
    /// What may not be heard has passed, and the present quantum holds nothing of it.
    private var hasPassed = false
    /// The gain at the end of the last quantum.
    private var gain: Float = 0
    /// How the host's sound went into the mix of the present quantum.
    private(set) var curve = GainCurve.silent

    /// It is in the mix.
    var isHeard: Bool { isAudible && hasPassed }

    /// Nothing is heard of it, and nothing is going to be.
    var isSilent: Bool { !isAudible && gain == 0 }

    /// Sees whether the next quantum of `track` may be heard; once one may, those that follow it may.
    ///
    /// - Parameter pending: Samples of the track that its reader has taken and not given out.
    mutating func look(at track: borrowing SoundTrack, pending: Int) {
        guard case .after(let last) = permission else {
            hasPassed = false
            return
        }
        guard !hasPassed, let last else {
            hasPassed = true
            return
        }
        hasPassed = track.isPast(last, pending: pending)
    }

    /// Moves the gain of the present quantum to `wanted`, or to silence where nothing is to be heard.
    mutating func move(to wanted: Float) {
        let next = isHeard ? wanted : 0
        curve = GainCurve(from: gain, to: next)
        gain = next
    }
}
