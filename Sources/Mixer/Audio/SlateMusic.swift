import Codecs
import Dispatch
import NIOCore
import Synchronization

/// Decodes the music of slates a little ahead, in a loop.
///
/// `fill` decodes, on a thread of its own or driven by the renderer; the program's thread only reads decoded samples.
/// At most two seconds are decoded ahead.
final class SlateMusic: Sendable {
    /// The maximum file size in bytes.
    static let maximumBytes = 20 << 20
    /// The maximum length played of a file, in samples: half an hour.
    static let maximumLength: Int64 = 30 * 60 * 48_000
    /// Samples decoded ahead.
    private static let ahead = 2 * 48_000
    /// A file with fewer samples than a tenth of a second is not looped.
    fileprivate static let minimumLength: Int64 = 4800

    /// A file to be played, with its asset name.
    fileprivate struct Track {
        let name: String
        let asset: AssetCache.Asset
    }

    fileprivate struct State: ~Copyable {
        /// The track to be played; nil for none, or for a missing file.
        var track: Track?
        /// Incremented with each track, so that late samples of the one before are discarded.
        var generation = 0
        var ring = SampleRing(capacity: 1 << 17)
        var isClosed = false
    }

    /// The decoder state of `fill`.
    fileprivate struct Player: ~Copyable {
        var generation = 0
        var decoder: AudioFileDecoder?
        var played: Int64 = 0
    }

    private let assets: AssetCache
    private let state = Mutex(State())
    private let player = Mutex(Player())
    private let wake = DispatchSemaphore(value: 0)

    /// - Parameter assets: The cache of provided files.
    init(_ assets: AssetCache) {
        self.assets = assets
    }

    /// Plays the present file of an asset from its start; nil ends playback.
    func play(_ asset: String?) {
        let track = asset.flatMap { name in assets.asset(name).map { Track(name: name, asset: $0) } }
        state.withLock { $0.begin(track) }
        wake.signal()
    }

    /// Returns the present version of an asset's file; 0 while there is none.
    func version(of asset: String) -> Int { assets.asset(asset)?.version ?? 0 }

    /// Whether at least a quantum is decoded.
    var isReady: Bool { state.withLock { $0.ring.count >= ProgramTime.quantum } }

    /// Reads up to `count` samples; returns how many.
    func read(_ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>, count: Int) -> Int {
        state.withLock { $0.ring.read(left, right, count: count) }
    }

    /// Decodes until enough samples are buffered.
    func fill() {
        player.withLock { player in
            while let missing = prepare(&player), missing > 0, player.decode(into: self) {}
        }
    }

    /// Opens the track if it has changed; returns how many samples are missing, nil for no track.
    private func prepare(_ player: inout Player) -> Int? {
        let (generation, track) = state.withLock { ($0.generation, $0.track) }
        if player.generation != generation { player.open(track, generation: generation, from: assets) }
        guard player.decoder != nil else { return nil }
        return Self.ahead - state.withLock { $0.ring.count }
    }

    fileprivate func append(_ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, count: Int, generation: Int) {
        state.withLock { state in
            if state.generation == generation { state.ring.append(left, right, count: count) }
        }
    }

    /// Decodes until closed, whenever samples are missing.
    func run() {
        while true {
            let (isPlaying, isClosed) = state.withLock { ($0.track != nil, $0.isClosed) }
            if isClosed { return }
            fill()
            if isPlaying { _ = wake.wait(timeout: .now() + .milliseconds(250)) } else { wake.wait() }
        }
    }

    /// Makes `run` return.
    func close() {
        state.withLock { $0.isClosed = true }
        wake.signal()
    }
}

extension SlateMusic.State {
    fileprivate mutating func begin(_ track: SlateMusic.Track?) {
        self.track = track
        generation += 1
        ring.skip(ring.count)
    }
}

extension SlateMusic.Player {
    fileprivate mutating func open(_ track: SlateMusic.Track?, generation: Int, from assets: AssetCache) {
        self.generation = generation
        decoder = nil
        played = 0
        guard let track, track.asset.bytes.readableBytes <= SlateMusic.maximumBytes else { return }
        do {
            decoder = try AudioFileDecoder(track.asset.bytes)
        } catch {
            // Not an audio file: the slate is silent.
            assets.reportUnusable(track.asset, of: track.name, because: error)
        }
    }

    /// Decodes the next block, from the beginning again after the end; false when nothing more can come.
    fileprivate mutating func decode(into music: SlateMusic) -> Bool {
        let generation = generation
        var count = 0
        do {
            let goesOn = try decoder?.decode { left, right in
                guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else { return }
                music.append(leftStart, rightStart, count: left.count, generation: generation)
                count += left.count
            }
            played += Int64(count)
            if goesOn != true || played >= SlateMusic.maximumLength {
                guard played >= SlateMusic.minimumLength else {
                    decoder = nil
                    return false
                }
                played = 0
                try decoder?.rewind()
            }
            return true
        } catch {
            decoder = nil
            return false
        }
    }
}

/// Plays the music under a slate at a fixed level, with fades of half a second.
///
/// Another asset, or a replaced file, begins when the present one has faded out. Owned by the program's thread; what is
/// played depends only on the changes applied to that thread, not on when it was decoded.
struct MusicBed: ~Copyable {
    /// The level relative to the file: 8 dB down, which suits usual masters under speech at -16 LUFS.
    static let level = Decibels.factor(-8)
    /// The length of a fade in milliseconds.
    static let fade = 500.0
    private static let step = Float(Double(ProgramTime.quantum) / 48 / fade)

    /// Identifies a file: a replaced file of the same asset is another track.
    private struct Track: Equatable {
        let asset: String
        let version: Int
    }

    private let music: SlateMusic
    private let quantum = StereoBuffer(capacity: ProgramTime.quantum)
    /// The progress of the fade-in, 0 to 1.
    private var fadeAmount: Float = 0
    private var playing: Track?
    /// The track to be played; nil for none.
    private var target: Track?
    /// Whether the next quantum is decoded; while it is not, there is silence, and the music continues from there.
    var isReady = false

    init(_ music: SlateMusic) {
        self.music = music
    }

    /// Plays the present file of `asset`, after the present track has faded out; nil ends playback.
    mutating func setTrack(_ asset: String?) {
        target = asset.map { Track(asset: $0, version: music.version(of: $0)) }
    }

    /// Switches to a replaced file of the present asset.
    mutating func assetsDidChange() { setTrack(target?.asset) }

    /// Updates whether the next quantum is decoded; returns the new value, if it has changed.
    mutating func updateReadiness() -> Bool? {
        guard playing != nil, music.isReady != isReady else { return nil }
        isReady.toggle()
        return isReady
    }

    /// Adds the next quantum to `sum`.
    mutating func add(to sum: borrowing StereoBuffer) {
        if fadeAmount == 0, playing != target {
            playing = target
            music.play(target?.asset)
            isReady = false
        }
        guard playing != nil, fadeAmount > 0 || isReady else { return }
        let count = isReady ? music.read(quantum.left, quantum.right, count: ProgramTime.quantum) : 0
        (quantum.left + count).update(repeating: 0, count: ProgramTime.quantum - count)
        (quantum.right + count).update(repeating: 0, count: ProgramTime.quantum - count)
        let before = fadeAmount
        fadeAmount = playing == target ? min(fadeAmount + Self.step, 1) : max(fadeAmount - Self.step, 0)
        if fadeAmount < Self.step / 2 { fadeAmount = 0 }
        GainCurve(from: before * Self.level, to: fadeAmount * Self.level)
            .add(quantum, to: sum, count: ProgramTime.quantum)
    }
}
