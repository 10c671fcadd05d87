import FootlightTesting
import Foundation
import Media
import Stage
import Synchronization

@testable import Viewership

/// A ledger on a manual clock, with events in a short form.
///
/// Times are seconds since the start.
final class LedgerFixture {
    static let keys = SessionKeys(current: SessionKey(version: 1, secret: Array(1...32)))

    let clock: ManualClock
    let ledger: ViewershipLedger
    let start: MonotonicTime
    let room = "show"

    /// - Parameter clock: The clock of an earlier fixture, to continue after it.
    init(
        configuration: ViewershipConfiguration = .init(),
        keys: SessionKeys = LedgerFixture.keys,
        clock: ManualClock = ManualClock(start: MonotonicTime(nanoseconds: 1_000_000_000_000)),
        start: MonotonicTime? = nil
    ) {
        self.clock = clock
        self.start = start ?? clock.now
        let passed = clock.now.seconds(since: self.start)
        ledger = ViewershipLedger(
            keys: keys,
            clock: clock,
            configuration: configuration,
            startDate: Date(timeIntervalSince1970: 1_800_000_000 + passed)
        )
    }

    func moment(_ seconds: Double) -> MonotonicTime { start.advanced(milliseconds: Int64((seconds * 1000).rounded())) }

    /// Advances the time to `seconds`, second by second.
    func advance(to seconds: Double) {
        let target = moment(seconds)
        while clock.now < target {
            clock.advance(to: min(clock.now.advanced(milliseconds: 1000), target))
            ledger.advance(to: clock.now)
        }
    }

    func record(
        _ sid: String,
        _ kind: AudienceEvent.Kind,
        at seconds: Double,
        by playback: PlaybackProtocol,
        rendition: String? = nil,
        room: String? = nil,
        bytes: Int = 0
    ) {
        let at = moment(seconds)
        if at > clock.now { clock.advance(to: at) }
        let room = room ?? self.room
        ledger.record(
            AudienceEvent(
                sid: sid,
                room: room,
                playback: playback,
                rendition: rendition,
                kind: kind,
                at: at,
                bytes: bytes
            )
        )
    }

    /// Opens a connection at `seconds` that qualifies five seconds later.
    func watch(_ sid: String, from seconds: Double, by playback: PlaybackProtocol, room: String? = nil) {
        record(sid, .opened, at: seconds, by: playback, room: room)
        record(sid, .watched(since: moment(seconds)), at: seconds + 5, by: playback, room: room)
    }

    /// Requests playlists every two seconds, from `first` through `last`.
    func poll(_ sid: String, from first: Double, to last: Double, by playback: PlaybackProtocol = .hls) {
        for seconds in stride(from: first, through: last, by: 2) {
            advance(to: seconds)
            record(sid, .playlistServed, at: seconds, by: playback)
        }
    }

    var report: RoomViewership { ledger.report(room: room) }

    /// Returns the value of one sample of `metrics()`; nil if there is none.
    func metric(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        let samples = ledger.metrics().first { $0.name == name }?.samples ?? []
        return samples.first { sample in
            labels == Dictionary(uniqueKeysWithValues: sample.labels.map { ($0.name, $0.value) })
        }?.value
    }
}

extension RoomViewership {
    /// The names of the snapshot identities that do not hold.
    var brokenIdentities: [String] {
        var broken: [String] = []
        if byProtocol.values.reduce(0, +) != concurrent { broken.append("sum of protocols == concurrent") }
        if byRendition.values.reduce(0, +) != concurrent { broken.append("sum of renditions == concurrent") }
        if byRegion.values.reduce(0, +) != concurrent { broken.append("sum of regions == concurrent") }
        if byClient.values.reduce(0, +) != concurrent { broken.append("sum of clients == concurrent") }
        if unfiltered < concurrent { broken.append("concurrent <= unfiltered") }
        if joinsByProtocol.values.reduce(0, +) != joins { broken.append("sum of joins by protocol == joins") }
        if joins - leaves != concurrent + resumable { broken.append("joins - leaves == concurrent + resumable") }
        if concurrent > peak { broken.append("concurrent <= peak") }
        // Neither bounds the other, since anonymous players may share a device.
        if devices > concurrent { broken.append("devices <= concurrent") }
        if anonymous > concurrent { broken.append("anonymous <= concurrent") }
        let figures = [concurrent, devices, anonymous, joins, leaves, resumable, peak] + byProtocol.values
        if figures.contains(where: { $0 < 0 }) || watchTimeSeconds < 0 { broken.append("nothing is negative") }
        return broken
    }
}
