import Codecs
import Egress
import Foundation
import Media
import Stage
import Synchronization

/// A host at 720p30 with a tone, whose every picture says when it was taken.
final class TimeCodeHost: Sendable {
    private let push: RTMPPush
    private let isStopped = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)
    private let failure = Mutex<(any Error)?>(nil)
    private let ownDelays = Mutex(Samples())

    /// Goes on air at once.
    init(address: PushAddress) {
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

    /// From a picture's moment until it was coded and handed to the network, in milliseconds.
    var delays: Samples { ownDelays.withLock { $0 } }

    /// Leaves, and throws what the host's codecs threw; called once.
    func stop() throws {
        isStopped.store(true, ordering: .relaxed)
        hasEnded.wait()
        push.stop()
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private func run() throws {
        var video = try VideoEncoder(VideoEncoderConfiguration(bitrate: 2_500_000, preset: "ultrafast"))
        var audio = try AudioEncoder()
        let canvas = try Canvas(width: 1280, height: 720)
        push.receive(.h264Configuration(video.configuration, timestamp: 0))
        push.receive(.aacConfiguration(audio.configuration, timestamp: 0))
        let start = MonotonicTime.now()
        var sample: Int64 = 0
        var index: Int64 = 0
        while !isStopped.load(ordering: .relaxed) {
            let timestamp = index * 1000 / 30
            sleepUntil(start.advanced(milliseconds: timestamp))
            let taken = MonotonicTime.now()
            canvas.fill(canvas.bounds, YUVColour(y: UInt8(40 + index % 60), u: 110, v: 150))
            TimeCode.draw(UInt32(truncatingIfNeeded: taken.milliseconds), on: canvas)
            try video.encode(canvas, index: index, timestamp: timestamp, forceKey: false) { push.receive($0) }
            let delay = MonotonicTime.now().seconds(since: taken) * 1000
            ownDelays.withLock { $0.add(delay) }
            try sendTone(&audio, from: sample, count: 1600)
            sample += 1600
            index += 1
        }
    }

    private func sendTone(_ encoder: inout AudioEncoder, from first: Int64, count: Int) throws {
        let tone = (0..<count).map { 0.2 * sinf(Float((first + Int64($0)) % 48_000) * 440 * 2 * .pi / 48_000) }
        try tone.withUnsafeBufferPointer { tone in
            guard let start = tone.baseAddress else { return }
            try encoder.encode(left: start, right: start, count: count, firstSample: first) { packet in
                if packet.timestamp >= 0 { push.receive(packet) }
            }
        }
    }
}
