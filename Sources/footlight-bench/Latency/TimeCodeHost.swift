import ArgumentParser
import Codecs
import Egress
import Foundation
import Media
import Stage
import Synchronization

/// A host at 720p30 with a tone, whose every picture says when it was taken.
///
/// As encoders do, it sends pictures and sound in the order of their times: a picture waits for the sound before it.
final class TimeCodeHost: Sendable {
    /// When the sound of a moment is sent.
    enum Sound: String, ExpressibleByArgument {
        /// At a microphone: a frame of AAC comes out three lengths after its beginning, 64 ms.
        case live
        /// From a file that was coded before: at its own time.
        case file

        /// Samples by which the sound is coded ahead of its time.
        var lead: Int64 {
            switch self {
            case .live: 0
            case .file: 3 * 1024
            }
        }
    }

    private struct Waiting {
        var pictures: [(packet: MediaPacket, code: UInt32, taken: MonotonicTime)] = []
        var sounds: [MediaPacket] = []
        var nextPicture: Int64 = 0
        var nextSound: Int64 = 0
    }

    /// Milliseconds from a frame of sound to the next, at least.
    private static let frame: Int64 = 21

    private let push: RTMPPush
    private let sound: Sound
    private let isStopped = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)
    private let failure = Mutex<(any Error)?>(nil)
    private let ownDelays = Mutex(Samples())
    private let log = Mutex<[UInt32: MonotonicTime]>([:])

    /// Goes on air at once.
    init(address: PushAddress, sound: Sound) {
        self.sound = sound
        push = RTMPPush(name: "host", address: address, policy: TargetPolicy(allowsPrivateAddresses: true))
        push.start()
        Thread.detachNewThread {
            do {
                try self.run()
            } catch {
                self.failure.withLock { $0 = error }
            }
            self.hasEnded.signal()
        }
    }

    /// Whether the gateway has taken the stream.
    var isOnAir: Bool { push.status.state == .connected }

    /// From a picture's moment until it was handed to the network with the sound before it, in milliseconds.
    var delays: Samples { ownDelays.withLock { $0 } }

    /// By code, when a picture had been handed to the network, the sound before it included.
    var sent: [UInt32: MonotonicTime] { log.withLock { $0 } }

    /// Leaves, and throws what the host's codecs threw; called once, and not together with `leave`.
    func stop() throws {
        leave()
        if let error = failure.withLock({ $0 }) { throw error }
    }

    /// Leaves, whatever became of the codecs.
    func leave() {
        isStopped.store(true, ordering: .relaxed)
        hasEnded.wait()
        push.stop()
    }

    private func run() throws {
        var video = try VideoEncoder(VideoEncoderConfiguration(bitrate: 2_500_000, preset: "ultrafast"))
        var audio = try AudioEncoder()
        let canvas = try Canvas(width: 1280, height: 720)
        push.receive(.h264Configuration(video.configuration, timestamp: 0))
        push.receive(.aacConfiguration(audio.configuration, timestamp: 0))
        let start = MonotonicTime.now()
        var waiting = Waiting()
        var sample: Int64 = 0
        var index: Int64 = 0
        while !isStopped.load(ordering: .relaxed) {
            // Each frame of sound is taken in when it is over, pictures at their beginning.
            let frameEnd = sample + 1024 - sound.lead
            if frameEnd <= index * 1600 {
                sleepUntil(start.advanced(seconds: Double(frameEnd) / 48_000))
                try codeTone(&audio, from: sample, count: 1024, into: &waiting)
                sample += 1024
            } else {
                let timestamp = index * 1000 / 30
                sleepUntil(start.advanced(milliseconds: timestamp))
                try codePicture(&video, canvas, index: index, timestamp: timestamp, into: &waiting)
                index += 1
            }
            sendInOrder(&waiting)
        }
    }

    private func codePicture(
        _ encoder: inout VideoEncoder,
        _ canvas: Canvas,
        index: Int64,
        timestamp: Int64,
        into waiting: inout Waiting
    ) throws {
        let taken = MonotonicTime.now()
        let code = UInt32(truncatingIfNeeded: taken.milliseconds)
        canvas.fill(canvas.bounds, YUVColour(y: UInt8(40 + index % 60), u: 110, v: 150))
        TimeCode.draw(code, on: canvas)
        try encoder.encode(canvas, index: index, timestamp: timestamp, forceKey: false) {
            waiting.pictures.append(($0, code, taken))
        }
        waiting.nextPicture = (index + 1) * 1000 / 30
    }

    private func codeTone(
        _ encoder: inout AudioEncoder,
        from first: Int64,
        count: Int,
        into waiting: inout Waiting
    ) throws {
        let tone = (0..<count).map { 0.2 * sinf(Float((first + Int64($0)) % 48_000) * 440 * 2 * .pi / 48_000) }
        try tone.withUnsafeBufferPointer { tone in
            guard let start = tone.baseAddress else { return }
            try encoder.encode(left: start, right: start, count: count, firstSample: first) { packet in
                guard packet.timestamp >= 0 else { return }
                waiting.sounds.append(packet)
                waiting.nextSound = packet.timestamp + Self.frame
            }
        }
    }

    /// Sends what nothing earlier can come before any more.
    private func sendInOrder(_ waiting: inout Waiting) {
        while true {
            let (picture, sound) = (waiting.pictures.first, waiting.sounds.first)
            if let picture, picture.packet.timestamp <= sound?.timestamp ?? waiting.nextSound {
                waiting.pictures.removeFirst()
                push.receive(picture.packet)
                let now = MonotonicTime.now()
                ownDelays.withLock { $0.add(now.seconds(since: picture.taken) * 1000) }
                log.withLock { $0[picture.code] = now }
            } else if let sound, sound.timestamp <= picture?.packet.timestamp ?? waiting.nextPicture {
                waiting.sounds.removeFirst()
                push.receive(sound)
            } else {
                return
            }
        }
    }
}
