import Codecs
import Glibc
import Media
import Synchronization

/// Listens to the program: how quiet it ever was for a tenth of a second, though a host with a tone was always on air.
final class SoakEar: Sendable {
    private struct Hearing: ~Copyable {
        var decoder: AudioDecoder?
        var energy = 0.0
        var samples = 0
        var tenths = 0
        var silent = 0
        var quietest = 0.0
        var errors = 0

        mutating func add(_ left: UnsafeBufferPointer<Float>) {
            for sample in left {
                energy += Double(sample * sample)
                samples += 1
                if samples == SoakEar.tenth { finishTenth() }
            }
        }

        private mutating func finishTenth() {
            let level = energy > 0 ? max(10 * log10(energy / Double(samples)), -127) : -127
            (energy, samples) = (0, 0)
            tenths += 1
            guard tenths > SoakEar.warmUp else { return }
            quietest = min(quietest, level)
            if level < SoakEar.silence { silent += 1 }
        }
    }

    /// Samples of a tenth of a second.
    private static let tenth = 4800
    /// Tenths of a second until the first host is heard.
    private static let warmUp = 50
    /// In dBFS.
    private static let silence = -50.0

    private let hearing = Mutex(Hearing())

    /// Takes the next packet of the program.
    func take(_ packet: MediaPacket) {
        guard packet.isAudio else { return }
        hearing.withLock { hearing in
            do throws(CodecError) {
                if packet.isConfiguration {
                    hearing.decoder = try AudioDecoder(codec: .aac, configuration: packet)
                } else {
                    var blocks: [AudioBlock] = []
                    try hearing.decoder?.decode(packet) { blocks.append($0) }
                    for block in blocks { block.withChannels { (left, _) in hearing.add(left) } }
                }
            } catch {
                hearing.errors += 1
            }
        }
    }

    /// What was heard, in one line.
    var summary: String {
        hearing.withLock { hearing in
            "the sound: \(hearing.tenths) tenths of a second, the quietest at \(hearing.quietest.text(1)) dBFS, "
                + "\(hearing.silent) silent, \(hearing.errors) that no decoder took"
        }
    }

    /// Tenths of a second in which nothing was heard, or nothing could be.
    var faults: Int { hearing.withLock { $0.silent + $0.errors } }
}
