import ArgumentParser
import Codecs
import Egress
import Foundation
import Media
import Stage
import Synchronization

/// A host at 720p30 with a tone, whose every frame carries its capture time.
///
/// As encoders do, it interleaves video and audio by timestamp: a frame waits for the audio before it.
final class TimeCodeHost: Sendable {
    /// When the audio of a moment is sent.
    enum AudioMode: String, ExpressibleByArgument {
        /// As from a microphone: an AAC frame is sent three frame lengths, 64 ms, after its beginning.
        case live
        /// As from an encoded file: at its own time.
        case file

        /// Samples by which audio is encoded ahead of its time.
        var lead: Int64 {
            switch self {
            case .live: 0
            case .file: 3 * 1024
            }
        }
    }

    private struct PendingPackets {
        var frames: [(packet: MediaPacket, code: UInt32, captured: MonotonicTime)] = []
        var audioPackets: [MediaPacket] = []
        var nextVideo: Int64 = 0
        var nextAudio: Int64 = 0
    }

    /// The minimum duration of an audio frame in milliseconds.
    private static let frame: Int64 = 21

    private let push: RTMPPush
    private let audioMode: AudioMode
    private let isStopped = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)
    private let failure = Mutex<(any Error)?>(nil)
    private let ownDelays = Mutex(Samples())
    private let log = Mutex<[UInt32: MonotonicTime]>([:])

    /// Starts to publish at once.
    init(address: PushAddress, audioMode: AudioMode) {
        self.audioMode = audioMode
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

    /// Whether the gateway has accepted the stream.
    var isOnAir: Bool { push.status.state == .connected }

    /// Milliseconds from a frame's capture until it was passed to the network after the audio before it.
    var delays: Samples { ownDelays.withLock { $0 } }

    /// By time code, when a frame was passed to the network, after the audio before it.
    var sent: [UInt32: MonotonicTime] { log.withLock { $0 } }

    /// Stops publishing, and rethrows a codec error; called once, and instead of `leave`.
    func stop() throws {
        leave()
        if let error = failure.withLock({ $0 }) { throw error }
    }

    /// Stops publishing and ignores codec errors.
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
        var pending = PendingPackets()
        var sample: Int64 = 0
        var index: Int64 = 0
        while !isStopped.load(ordering: .relaxed) {
            // An audio frame is encoded at its end, a video frame at its beginning.
            let frameEnd = sample + 1024 - audioMode.lead
            if frameEnd <= index * 1600 {
                sleepUntil(start.advanced(seconds: Double(frameEnd) / 48_000))
                try encodeTone(&audio, from: sample, count: 1024, into: &pending)
                sample += 1024
            } else {
                let timestamp = index * 1000 / 30
                sleepUntil(start.advanced(milliseconds: timestamp))
                try encodeFrame(&video, canvas, index: index, timestamp: timestamp, into: &pending)
                index += 1
            }
            sendInOrder(&pending)
        }
    }

    private func encodeFrame(
        _ encoder: inout VideoEncoder,
        _ canvas: Canvas,
        index: Int64,
        timestamp: Int64,
        into pending: inout PendingPackets
    ) throws {
        let captured = MonotonicTime.now()
        let code = UInt32(truncatingIfNeeded: captured.milliseconds)
        canvas.fill(canvas.bounds, YUVColour(y: UInt8(40 + index % 60), u: 110, v: 150))
        TimeCode.draw(code, on: canvas)
        try encoder.encode(canvas, index: index, timestamp: timestamp, forceKey: false) {
            pending.frames.append(($0, code, captured))
        }
        pending.nextVideo = (index + 1) * 1000 / 30
    }

    private func encodeTone(
        _ encoder: inout AudioEncoder,
        from first: Int64,
        count: Int,
        into pending: inout PendingPackets
    ) throws {
        let tone = (0..<count).map { 0.2 * sinf(Float((first + Int64($0)) % 48_000) * 440 * 2 * .pi / 48_000) }
        try tone.withUnsafeBufferPointer { tone in
            guard let start = tone.baseAddress else { return }
            try encoder.encode(left: start, right: start, count: count, firstSample: first) { packet in
                guard packet.timestamp >= 0 else { return }
                pending.audioPackets.append(packet)
                pending.nextAudio = packet.timestamp + Self.frame
            }
        }
    }

    /// Sends the packets that no earlier packet can precede.
    private func sendInOrder(_ pending: inout PendingPackets) {
        while true {
            let (frame, audio) = (pending.frames.first, pending.audioPackets.first)
            if let frame, frame.packet.timestamp <= audio?.timestamp ?? pending.nextAudio {
                pending.frames.removeFirst()
                push.receive(frame.packet)
                let now = MonotonicTime.now()
                ownDelays.withLock { $0.add(now.seconds(since: frame.captured) * 1000) }
                log.withLock { $0[frame.code] = now }
            } else if let audio, audio.timestamp <= frame?.packet.timestamp ?? pending.nextVideo {
                pending.audioPackets.removeFirst()
                push.receive(audio)
            } else {
                return
            }
        }
    }
}
