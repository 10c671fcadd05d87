/// The music under a slate, at one fixed level, faded in and out over half a second.
///
/// Another asset, or another file in the place of one, begins when the one before has faded out. Owned by the program's
/// thread; what is played follows from what that thread was told between its steps, whenever it was decoded.
struct MusicBed: ~Copyable {
    /// Under speech at -16 LUFS a usual master is at home about here: 8 dB down.
    static let level = Decibels.factor(-8)
    /// Milliseconds.
    static let fade = 500.0
    private static let step = Float(Double(ProgramTime.quantum) / 48 / fade)

    /// A file that is played: the same asset with another file is another one.
    private struct Piece: Equatable {
        let asset: String
        let version: Int
    }

    private let music: SlateMusic
    private let quantum = StereoBuffer(capacity: ProgramTime.quantum)
    /// 0 to 1, how far it is faded in.
    private var presence: Float = 0
    private var playing: Piece?
    /// What is to be heard; nil for nothing.
    private var wanted: Piece?
    /// The next quantum is decoded; without it there is silence, and the music goes on from there.
    var isReady = false

    init(_ music: SlateMusic) {
        self.music = music
    }

    /// Plays the file that `asset` is now, after what is played has faded out; nil ends.
    mutating func want(_ asset: String?) {
        wanted = asset.map { Piece(asset: $0, version: music.version(of: $0)) }
    }

    /// Takes in that files have come: another one may be in the place of the one that is played.
    mutating func takeInFiles() { want(wanted?.asset) }

    /// Looks whether the next quantum is decoded; returns whether it is, if that has changed.
    mutating func look() -> Bool? {
        guard playing != nil, music.isReady != isReady else { return nil }
        isReady.toggle()
        return isReady
    }

    /// Adds the next quantum to `sum`.
    mutating func add(to sum: borrowing StereoBuffer) {
        if presence == 0, playing != wanted {
            playing = wanted
            music.play(wanted?.asset)
            isReady = false
        }
        guard playing != nil, presence > 0 || isReady else { return }
        let count = isReady ? music.read(quantum.left, quantum.right, count: ProgramTime.quantum) : 0
        (quantum.left + count).update(repeating: 0, count: ProgramTime.quantum - count)
        (quantum.right + count).update(repeating: 0, count: ProgramTime.quantum - count)
        let before = presence
        presence = playing == wanted ? min(presence + Self.step, 1) : max(presence - Self.step, 0)
        if presence < Self.step / 2 { presence = 0 }
        GainCurve(from: before * Self.level, to: presence * Self.level)
            .add(quantum, to: sum, count: ProgramTime.quantum)
    }
}
