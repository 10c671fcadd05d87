import Codecs
import Media
import Mixer
import Stage
import Synchronization

/// Takes a coded program, and holds it against what it has to be: its times, its groups, and every host's flashes and
/// beeps.
final class ProgramCheck: Sendable {
    /// Where a host is seen, and whether it is heard.
    struct Place: Sendable {
        let host: TimetableHost
        let x: Int
        let y: Int
        let isAudible: Bool
    }

    private let state: Mutex<ProgramCheckState>

    init(configuration: ProgramConfiguration, hosts: Int) throws {
        state = Mutex(try ProgramCheckState(configuration: configuration, hosts: hosts))
    }

    /// From `time` on, milliseconds, these are seen in these places; while tiles move nobody is looked at.
    func show(_ places: [Place], from time: Double) {
        state.withLock { state in
            let names = state.names
            for name in names { state.ledgers[name]?.excuse(time - 100..<time + 1000) }
            state.eras.append((time + 1000, places))
        }
    }

    /// What happens to this host in `span` is not looked at.
    func excuse(_ host: String, _ span: Range<Double>) {
        state.withLock { $0.ledgers[host]?.excuse(span) }
    }

    /// Takes the next packet of the program.
    func take(_ packet: MediaPacket) {
        state.withLock { state in
            do throws(CodecError) {
                try state.take(packet)
            } catch {
                state.fault("the program cannot be decoded: \(error)")
            }
        }
    }

    /// The worst distance of a flash from its beep, and the range of delays, since the last call.
    func takeWorst() -> (distance: Double, delays: ClosedRange<Double>?) {
        state.withLock { state in
            defer { state.delays = nil }
            return (state.takeWorst(), state.delays)
        }
    }

    /// Pictures and frames of sound that came, and flashes that were held against beeps.
    var counts: (pictures: Int64, sounds: Int64, flashes: Int) {
        state.withLock { state in
            (state.pictures, state.sounds, state.ledgers.values.reduce(0) { $0 + $1.compared })
        }
    }

    /// All that was not as it has to be.
    var faults: [String] {
        state.withLock { state in state.faults + state.names.flatMap { state.ledgers[$0]?.faults ?? [] } }
    }
}
