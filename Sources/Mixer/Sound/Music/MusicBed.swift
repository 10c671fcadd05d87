/// The music under a slate, at one fixed level, faded in and out over half a second.
///
/// Another asset begins when the one before has faded out. Owned by the program's thread.
struct MusicBed: ~Copyable {
    /// Under speech at -16 LUFS a usual master is at home about here: 8 dB down.
    static let level = Decibels.factor(-8)
    /// Milliseconds.
    static let fade = 500.0
    private static let step = Float(Double(ProgramTime.quantum) / 48 / fade)

    private let music: SlateMusic
    private let quantum = StereoBuffer(capacity: ProgramTime.quantum)
    /// 0 to 1, how far it is faded in.
    private var presence: Float = 0
    private var playing: String?
    /// What is to be heard; nil for nothing.
    var asset: String?

    init(_ music: SlateMusic) {
        self.music = music
    }

    /// Adds the next quantum to `sum`.
    mutating func add(to sum: borrowing StereoBuffer) {
        if presence == 0, playing != asset {
            playing = asset
            music.play(asset)
        }
        guard playing != nil, presence > 0 || music.isReady else { return }
        let count = music.read(quantum.left, quantum.right, count: ProgramTime.quantum)
        (quantum.left + count).update(repeating: 0, count: ProgramTime.quantum - count)
        (quantum.right + count).update(repeating: 0, count: ProgramTime.quantum - count)
        let before = presence
        presence = playing == asset ? min(presence + Self.step, 1) : max(presence - Self.step, 0)
        if presence < Self.step / 2 { presence = 0 }
        GainCurve(from: before * Self.level, to: presence * Self.level)
            .add(quantum, to: sum, count: ProgramTime.quantum)
    }
}
