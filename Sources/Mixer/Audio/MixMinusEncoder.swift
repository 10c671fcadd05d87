import Codecs
import DequeModule
import Dispatch
import Media
import Synchronization

/// Encodes the mix-minus feeds on a thread of its own, and interleaves them with the video of the program or, while there
/// is one, of the preview.
///
/// The encoded video is reused; only audio is encoded again. The queue is bounded: what exceeds it is dropped
/// and counted, audio becomes silence, video continues at the next keyframe.
final class MixMinusEncoder: MixMinusOutput, Sendable {
    /// Where the video comes from.
    private enum VideoSource: Sendable {
        case program
        case preview
    }

    private enum Job: Sendable {
        case video(MediaPacket, from: VideoSource)
        case audio(host: String, AudioBlock, firstSample: Int64)
    }

    private struct State {
        var jobs = Deque<Job>()
        var activeHosts: Set<String> = []
        var configurations: [VideoSource: MediaPacket] = [:]
        /// The source whose video the feeds are to have from its next keyframe on.
        var source = VideoSource.program
        var hasLostFrames = false
        var dropped: Int64 = 0
        var isClosed = false
    }

    /// About two seconds of a program with twelve feeds.
    private static let maximumQueued = 2048

    private let bitrate: Int
    private let sink: @Sendable (String, MediaPacket) -> Void
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - bitrate: The audio bit rate of each feed, bits per second.
    ///   - sink: Receives each feed's packets with its host; called on the thread of `run`.
    init(bitrate: Int, sink: @escaping @Sendable (String, MediaPacket) -> Void) {
        self.bitrate = bitrate
        self.sink = sink
    }

    /// Packets and quanta dropped because the queue was full.
    var dropped: Int64 { state.withLock { $0.dropped } }

    /// Packets and quanta that wait to be encoded.
    var queued: Int { state.withLock { $0.jobs.count } }

    /// Sets the hosts that get a feed from now on; any thread.
    func follow(_ hosts: Set<String>) {
        let isChange = state.withLock { state in
            guard state.activeHosts != hosts else { return false }
            state.activeHosts = hosts
            return true
        }
        if isChange { wake.signal() }
    }

    func showPreview(_ isShown: Bool) {
        state.withLock { $0.source = isShown ? .preview : .program }
    }

    /// Queues the program's next packet; any one thread, in order.
    func writeProgramPacket(_ packet: MediaPacket) { write(packet, from: .program) }

    /// Queues the preview's next packet; any one thread, in order.
    func writePreviewPacket(_ packet: MediaPacket) { write(packet, from: .preview) }

    private func write(_ packet: MediaPacket, from source: VideoSource) {
        let isAccepted = state.withLock { state in
            if case .videoConfiguration = packet.content { state.configurations[source] = packet }
            guard !packet.isAudio, !state.activeHosts.isEmpty else { return false }
            guard state.jobs.count < Self.maximumQueued else {
                state.dropped += 1
                state.hasLostFrames = true
                return false
            }
            state.jobs.append(.video(packet, from: source))
            return true
        }
        if isAccepted { wake.signal() }
    }

    func writeMix(
        _ host: String,
        left: UnsafePointer<Float>,
        right: UnsafePointer<Float>,
        count: Int,
        firstSample: Int64
    ) {
        let block = AudioBlock(frameCount: count, timestamp: Double(firstSample) / 48) { (toLeft, toRight) in
            toLeft.baseAddress?.update(from: left, count: count)
            toRight.baseAddress?.update(from: right, count: count)
        }
        let isAccepted = state.withLock { state in
            guard state.activeHosts.contains(host) else { return false }
            guard state.jobs.count < Self.maximumQueued else {
                state.dropped += 1
                return false
            }
            state.jobs.append(.audio(host: host, block, firstSample: firstSample))
            return true
        }
        if isAccepted { wake.signal() }
    }

    /// Makes `run` return.
    func close() {
        state.withLock { $0.isClosed = true }
        wake.signal()
    }

    /// Encodes queued jobs until closed.
    ///
    /// - Parameter report: Called with the thread's processor seconds from time to time.
    func run(report: (Double) -> Void) {
        var streams: [String: MixMinusStream] = [:]
        var encoded = 0
        var source = VideoSource.program
        while true {
            let (job, activeHosts, configurations, nextSource, hasLost, isClosed) = state.withLock { state in
                defer { state.hasLostFrames = false }
                return (
                    state.jobs.popFirst(), state.activeHosts, state.configurations, state.source, state.hasLostFrames,
                    state.isClosed
                )
            }
            if isClosed { return }
            if streams.count != activeHosts.count || !activeHosts.allSatisfy({ streams[$0] != nil }) {
                streams = streams.filter { activeHosts.contains($0.key) }
                for host in activeHosts where streams[host] == nil {
                    streams[host] = makeStream(host, configurations[source])
                }
            }
            if hasLost { for stream in streams.values { stream.skipToKeyframe() } }
            switch job {
            case .video(let packet, let origin):
                if origin != source, origin == nextSource, packet.isKeyframe, let other = configurations[origin] {
                    source = origin
                    for stream in streams.values { stream.changeVideo(to: other, at: packet.timestamp) }
                }
                guard origin == source else { continue }
                for stream in streams.values { stream.writeVideo(packet) }
            case .audio(let host, let block, let firstSample):
                streams[host]?.writeAudio(block, firstSample: firstSample)
                encoded += 1
                if encoded % 50 == 0 { report(MonotonicSleep.threadSeconds()) }
            case nil:
                wake.wait()
            }
        }
    }

    private func makeStream(_ host: String, _ configuration: MediaPacket?) -> MixMinusStream? {
        do {
            return try MixMinusStream(bitrate: bitrate, configuration: configuration) { [sink] in sink(host, $0) }
        } catch {
            // Without an encoder the host has no feed; the mix continues.
            state.withLock { _ = $0.activeHosts.remove(host) }
            return nil
        }
    }
}

/// Receives the mix-minus audio of single hosts from the program's thread.
protocol MixMinusOutput: AnyObject {
    /// Sets whether the feeds have the preview's video instead of the program's, from the next keyframe on.
    func showPreview(_ isShown: Bool)

    /// Receives `count` samples for `host`, the first at position `firstSample`; the pointers are valid during the call
    /// only.
    func writeMix(
        _ host: String,
        left: UnsafePointer<Float>,
        right: UnsafePointer<Float>,
        count: Int,
        firstSample: Int64
    )
}

/// One host's mix-minus feed: encoded video, interleaved with the host's own audio.
///
/// The stream begins with a keyframe and both decoder configurations. Owned by the thread that encodes the feeds.
final class MixMinusStream {
    /// The audio encoder buffers at most an incomplete frame and one for its look-ahead.
    private static let maximumBacklog: Int64 = 2 * 1024

    private var audio: AudioEncoder
    private var interleaver = Interleaver()
    /// The timestamp of the first video packet; nil before it.
    private var start: Int64?
    private var configuration: MediaPacket?
    private var isConfigured = false
    private(set) var errors: Int64 = 0
    private let sink: (MediaPacket) -> Void

    /// - Parameters:
    ///   - bitrate: The audio bit rate, bits per second.
    ///   - configuration: The video configuration, if it is known already.
    init(bitrate: Int, configuration: MediaPacket?, sink: @escaping (MediaPacket) -> Void) throws(CodecError) {
        audio = try AudioEncoder(AudioEncoderConfiguration(bitrate: bitrate))
        self.configuration = configuration
        self.sink = sink
    }

    /// Adds the next packet that is not audio.
    func writeVideo(_ packet: MediaPacket) {
        switch packet.content {
        case .videoConfiguration:
            configuration = packet
            isConfigured = false
        case .video:
            guard start != nil || packet.isKeyframe else { return }
            begin(at: packet.timestamp)
            interleaver.append(packet)
            interleaver.setVideoWatermark(packet.timestamp)
            drain()
        case .metadata, .videoEnd, .audioConfiguration, .audio:
            break
        }
    }

    /// Continues with the video of another encoder, whose next packet is a keyframe at `timestamp`.
    func changeVideo(to configuration: MediaPacket, at timestamp: Int64) {
        self.configuration = configuration
        isConfigured = false
        guard start != nil else { return }
        isConfigured = true
        var packet = configuration
        packet.timestamp = timestamp
        // In order, behind the frames of the encoder before.
        interleaver.append(packet)
    }

    /// Drops video up to the next keyframe, after packets were lost.
    func skipToKeyframe() {
        start = nil
    }

    private func begin(at timestamp: Int64) {
        guard start == nil else { return }
        start = timestamp
        guard !isConfigured, var configuration else { return }
        isConfigured = true
        configuration.timestamp = timestamp
        sink(configuration)
        sink(.aacConfiguration(audio.configuration, timestamp: timestamp))
    }

    /// Encodes the next audio block; the first sample has position `firstSample`.
    func writeAudio(_ block: AudioBlock, firstSample: Int64) {
        let start = start
        var interleaver = interleaver
        do {
            try block.withChannels { (left, right) throws(CodecError) in
                guard let left = left.baseAddress, let right = right.baseAddress else { return }
                try audio.encode(left: left, right: right, count: block.frameCount, firstSample: firstSample) {
                    // Audio from before the first video packet is dropped.
                    if let start, $0.timestamp >= start { interleaver.append($0) }
                }
            }
        } catch {
            errors += 1
        }
        self.interleaver = interleaver
        let end = firstSample + Int64(block.frameCount) - Int64(audio.priming) - Self.maximumBacklog
        self.interleaver.setAudioWatermark(ProgramTime.milliseconds(ofSample: end))
        drain()
    }

    private func drain() {
        while let packet = interleaver.next() { sink(packet) }
    }
}
