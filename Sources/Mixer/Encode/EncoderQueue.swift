import DequeModule
import Dispatch
import Synchronization

/// The bounded queue from the program's thread to the encoder's.
///
/// The program's thread checks `pendingFrames` before it composes, which bounds the frames; audio that exceeds the
/// queue (2.5 seconds) is dropped and counted, and the encoder fills in silence.
final class EncoderQueue: ProgramOutput, Sendable {
    private enum Job: Sendable {
        case frame(canvas: Int, index: Int64)
        case audio(count: Int, firstSample: Int64)
    }

    private struct State: ~Copyable {
        var jobs = Deque<Job>()
        var audio = SampleRing(capacity: 1 << 17)
        var frames = 0
        var droppedSamples: Int64 = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    var pendingFrames: Int { state.withLock { $0.frames } }
    var droppedSamples: Int64 { state.withLock { $0.droppedSamples } }

    func writeFrame(canvas: Int, index: Int64) {
        state.withLock { state in
            state.jobs.append(.frame(canvas: canvas, index: index))
            state.frames += 1
        }
        wake.signal()
    }

    func writeAudio(left: UnsafePointer<Float>, right: UnsafePointer<Float>, count: Int, firstSample: Int64) {
        let isAccepted = state.withLock { state in
            guard state.audio.room >= count else {
                state.droppedSamples += Int64(count)
                return false
            }
            state.audio.append(left, right, count: count)
            state.jobs.append(.audio(count: count, firstSample: firstSample))
            return true
        }
        if isAccepted { wake.signal() }
    }

    /// Makes `run` return once everything queued is encoded.
    func close() {
        state.withLock { $0.isClosed = true }
        wake.signal()
    }

    /// Encodes queued jobs on the encoder's thread until the queue is closed and empty.
    ///
    /// - Parameter report: Called with the thread's processor seconds after each frame.
    func run(_ encoder: ProgramEncoder, report: (Double) -> Void) {
        let samples = StereoBuffer(capacity: ProgramTime.quantum)
        while true {
            let (job, isClosed) = state.withLock { state -> (Job?, Bool) in
                let job = state.jobs.popFirst()
                if case .audio(let count, _) = job {
                    _ = state.audio.read(samples.left, samples.right, count: count)
                }
                return (job, state.isClosed)
            }
            switch job {
            case .frame(let canvas, let index):
                encoder.writeFrame(canvas: canvas, index: index)
                state.withLock { $0.frames -= 1 }
                report(MonotonicSleep.threadSeconds())
            case .audio(let count, let firstSample):
                encoder.writeAudio(left: samples.left, right: samples.right, count: count, firstSample: firstSample)
            case nil:
                if isClosed { return encoder.close() }
                wake.wait()
            }
        }
    }
}

/// Receives the program's finished frames and audio: an encoder, or the queue to one.
protocol ProgramOutput: AnyObject {
    /// Frames received and not yet encoded.
    var pendingFrames: Int { get }

    /// Receives frame `index` on canvas `canvas`, which was retained once for it.
    func writeFrame(canvas: Int, index: Int64)

    /// Receives `count` samples, the first at position `firstSample`; the pointers are valid during the call only.
    func writeAudio(
        left: UnsafePointer<Float>,
        right: UnsafePointer<Float>,
        count: Int,
        firstSample: Int64
    )
}
