import Dispatch
import Synchronization

/// The bounded way from the program's thread to the encoder's.
///
/// The program's thread looks at `pendingPictures` before it composes, so pictures are never queued without end; sound
/// that finds no room (two and a half seconds of it) is dropped and counted, and the encoder fills in silence.
final class EncoderQueue: ProgramOutput, Sendable {
    private enum Job: Sendable {
        case picture(canvas: Int, index: Int64)
        case sound(count: Int, firstSample: Int64)
    }

    private struct State: ~Copyable {
        var jobs = Fifo<Job>()
        var sound = SampleRing(capacity: 1 << 17)
        var pictures = 0
        var droppedSamples: Int64 = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    var pendingPictures: Int { state.withLock { $0.pictures } }
    var droppedSamples: Int64 { state.withLock { $0.droppedSamples } }

    func takePicture(canvas: Int, index: Int64) {
        state.withLock { state in
            state.jobs.append(.picture(canvas: canvas, index: index))
            state.pictures += 1
        }
        wake.signal()
    }

    func takeSound(left: UnsafePointer<Float>, right: UnsafePointer<Float>, count: Int, firstSample: Int64) {
        let isTaken = state.withLock { state in
            guard state.sound.room >= count else {
                state.droppedSamples += Int64(count)
                return false
            }
            state.sound.append(left, right, count: count)
            state.jobs.append(.sound(count: count, firstSample: firstSample))
            return true
        }
        if isTaken { wake.signal() }
    }

    /// Lets `run` return once everything queued is encoded.
    func close() {
        state.withLock { $0.isClosed = true }
        wake.signal()
    }

    /// The encoder's thread: encodes what comes until the queue is closed and empty.
    ///
    /// - Parameter report: Told the thread's processor seconds after each picture.
    func run(_ encoder: ProgramEncoder, report: (Double) -> Void) {
        let samples = StereoBuffer(capacity: ProgramTime.quantum)
        while true {
            let (job, isClosed) = state.withLock { state -> (Job?, Bool) in
                let job = state.jobs.popFirst()
                if case .sound(let count, _) = job {
                    _ = state.sound.read(samples.left, samples.right, count: count)
                }
                return (job, state.isClosed)
            }
            switch job {
            case .picture(let canvas, let index):
                encoder.takePicture(canvas: canvas, index: index)
                state.withLock { $0.pictures -= 1 }
                report(MonotonicSleep.threadSeconds())
            case .sound(let count, let firstSample):
                encoder.takeSound(left: samples.left, right: samples.right, count: count, firstSample: firstSample)
            case nil:
                if isClosed { return encoder.close() }
                wake.wait()
            }
        }
    }
}
