import Codecs
import Dispatch
import NIOCore
import Synchronization

/// The music of slates: decodes the file that is played a little ahead, over and over.
///
/// Decoding happens in `fill`, on a thread of its own or wherever time is moved by hand; the program's thread only takes
/// what is there. No more than two seconds are decoded at any time.
final class SlateMusic: Sendable {
    /// The largest file taken, in bytes.
    static let mostBytes = 20 << 20
    /// What of a file is played at most, in samples: half an hour.
    static let longest: Int64 = 30 * 60 * 48_000
    /// Samples decoded ahead.
    private static let ahead = 2 * 48_000
    /// A file with less sound than this, a tenth of a second, is not gone through over and over.
    fileprivate static let shortest: Int64 = 4800

    /// A file that is played, and what scenes call it.
    fileprivate struct Track {
        let name: String
        let asset: AssetShelf.Asset
    }

    fileprivate struct State: ~Copyable {
        /// What is played; nil for nothing, or a file that is not there.
        var track: Track?
        /// Counts what was asked to be played, so that late sound of the one before is known.
        var turn = 0
        var ring = SampleRing(capacity: 1 << 17)
        var isClosed = false
    }

    /// What `fill` has open.
    fileprivate struct Player: ~Copyable {
        var turn = 0
        var decoder: SoundFileDecoder?
        var played: Int64 = 0
    }

    private let assets: AssetShelf
    private let state = Mutex(State())
    private let player = Mutex(Player())
    private let wake = DispatchSemaphore(value: 0)

    /// - Parameter assets: Where the files are.
    init(_ assets: AssetShelf) {
        self.assets = assets
    }

    /// Begins an asset from its start, with the file that is there now; nil ends.
    func play(_ asset: String?) {
        let track = asset.flatMap { name in assets.asset(name).map { Track(name: name, asset: $0) } }
        state.withLock { $0.begin(track) }
        wake.signal()
    }

    /// The version of the file that an asset would be played from now; 0 while there is none.
    func version(of asset: String) -> Int { assets.asset(asset)?.version ?? 0 }

    /// A quantum at least is decoded.
    var isReady: Bool { state.withLock { $0.ring.count >= ProgramTime.quantum } }

    /// Takes up to `count` samples; returns how many.
    func read(_ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>, count: Int) -> Int {
        state.withLock { $0.ring.read(left, right, count: count) }
    }

    /// Decodes ahead, until enough lies ready.
    func fill() {
        player.withLock { player in
            while let missing = prepare(&player), missing > 0, player.decode(into: self) {}
        }
    }

    /// Opens what is to be played, if that has changed; returns how many samples are missing, nil for nothing to do.
    private func prepare(_ player: inout Player) -> Int? {
        let (turn, track) = state.withLock { ($0.turn, $0.track) }
        if player.turn != turn { player.open(track, turn: turn, from: assets) }
        guard player.decoder != nil else { return nil }
        return Self.ahead - state.withLock { $0.ring.count }
    }

    fileprivate func append(_ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, count: Int, turn: Int) {
        state.withLock { state in
            if state.turn == turn { state.ring.append(left, right, count: count) }
        }
    }

    /// Decodes until closed, each time there is something to do.
    func run() {
        while true {
            let (isPlaying, isClosed) = state.withLock { ($0.track != nil, $0.isClosed) }
            if isClosed { return }
            fill()
            if isPlaying { _ = wake.wait(timeout: .now() + .milliseconds(250)) } else { wake.wait() }
        }
    }

    /// Lets `run` return.
    func close() {
        state.withLock { $0.isClosed = true }
        wake.signal()
    }
}

extension SlateMusic.State {
    fileprivate mutating func begin(_ track: SlateMusic.Track?) {
        self.track = track
        turn += 1
        ring.skip(ring.count)
    }
}

extension SlateMusic.Player {
    fileprivate mutating func open(_ track: SlateMusic.Track?, turn: Int, from assets: AssetShelf) {
        self.turn = turn
        decoder = nil
        played = 0
        guard let track, track.asset.bytes.readableBytes <= SlateMusic.mostBytes else { return }
        do {
            decoder = try SoundFileDecoder(track.asset.bytes)
        } catch {
            // Not a file that can be played: the slate is silent.
            assets.cannotUse(track.asset, of: track.name, because: error)
        }
    }

    /// Decodes the next piece, from the beginning again after the end; false when nothing more can come.
    fileprivate mutating func decode(into music: SlateMusic) -> Bool {
        let turn = turn
        var count = 0
        do {
            let goesOn = try decoder?.decode { left, right in
                guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else { return }
                music.append(leftStart, rightStart, count: left.count, turn: turn)
                count += left.count
            }
            played += Int64(count)
            if goesOn != true || played >= SlateMusic.longest {
                guard played >= SlateMusic.shortest else {
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
