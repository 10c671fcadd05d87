import Codecs
import Glibc
import Media
import Synchronization
import TestSupport

/// A good output, and one whose server is repeatedly stopped, restarted, paused and resumed.
final class SoakOutputs {
    private enum ServerPhase: Int {
        case healthy
        case stopped
        case restarted
        case paused
    }

    /// Seconds of each phase.
    private static let phaseLength = 15.0

    private let gateway: GatewayProcess
    private let room: String
    private let good: NginxRTMP
    private let bad: NginxRTMP
    private var phase = ServerPhase.healthy
    private var isStarted = false

    init(room: String, _ gateway: GatewayProcess) async throws {
        self.gateway = gateway
        self.room = room
        good = try await NginxRTMP(isRecording: false)
        bad = try await NginxRTMP(isRecording: false)
    }

    func tick(at second: Double) async throws {
        if !isStarted {
            isStarted = true
            let outputs: [JSONValue] = [target("good", good), target("bad", bad)]
            let path = "/v1/rooms/\(room)/livestream/start"
            try expect(try await gateway.api("POST", path, ["outputs": .array(outputs)]), "the livestream")
        }
        guard let next = ServerPhase(rawValue: Int(second / Self.phaseLength) % 4), next != phase else { return }
        phase = next
        switch next {
        case .healthy: bad.resume()
        case .stopped: bad.stop()
        case .restarted: try await bad.start()
        case .paused: bad.pause()
        }
    }

    /// Returns each output's state, reconnects and dropped frames.
    func states() async throws -> [String: (state: String, reconnects: Int, dropped: Int)] {
        let reply = try await gateway.api("GET", "/v1/rooms/\(room)/egress")
        try expect(reply, "the outputs")
        var states: [String: (state: String, reconnects: Int, dropped: Int)] = [:]
        for output in reply.json["livestream"]["outputs"].elements {
            let (reconnects, dropped) = (output["reconnects"].int ?? -1, output["dropped_frames"].int ?? -1)
            states[output["name"].string ?? ""] = (output["state"].string ?? "", reconnects, dropped)
        }
        return states
    }

    /// Returns the faults of the good output, and a missing reconnect of the bad one.
    ///
    /// - Parameter isStarved: Whether the machine had too little processor time, so that frames may have been dropped.
    func faults(isStarved: Bool) async throws -> [String] {
        let states = try await states()
        var faults: [String] = []
        guard let good = states["good"], let bad = states["bad"] else {
            return ["only the outputs \(states.keys.sorted()) are left"]
        }
        if good.state != "connected" || good.reconnects > 0 || (good.dropped > 0 && !isStarved) {
            faults.append("the good output is \(good)")
        }
        if bad.reconnects == 0 { faults.append("the bad output never reconnected") }
        return faults
    }

    private func target(_ name: String, _ server: NginxRTMP) -> JSONValue {
        ["name": .string(name), "url": .string(server.url), "stream_key": "key"]
    }
}

/// Measures the program's minimum level over a tenth of a second; a host with a tone is always on air.
final class SoakAudioMonitor: Sendable {
    private struct AudioState: ~Copyable {
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
                if samples == SoakAudioMonitor.tenth { finishTenth() }
            }
        }

        private mutating func finishTenth() {
            let level = energy > 0 ? max(10 * log10(energy / Double(samples)), -127) : -127
            (energy, samples) = (0, 0)
            tenths += 1
            guard tenths > SoakAudioMonitor.warmUp else { return }
            quietest = min(quietest, level)
            if level < SoakAudioMonitor.silence { silent += 1 }
        }
    }

    /// Samples of a tenth of a second.
    private static let tenth = 4800
    /// Tenths of a second until the first host is audible.
    private static let warmUp = 50
    /// The level of silence in dBFS.
    private static let silence = -50.0

    private let state = Mutex(AudioState())

    /// Decodes and measures the next packet of the program.
    func receive(_ packet: MediaPacket) {
        guard packet.isAudio else { return }
        state.withLock { state in
            do throws(CodecError) {
                if packet.isConfiguration {
                    state.decoder = try AudioDecoder(codec: .aac, configuration: packet)
                } else {
                    var blocks: [AudioBlock] = []
                    try state.decoder?.decode(packet) { blocks.append($0) }
                    for block in blocks { block.withChannels { (left, _) in state.add(left) } }
                }
            } catch {
                state.errors += 1
            }
        }
    }

    /// The results, in one line.
    var summary: String {
        state.withLock { state in
            "audio: \(state.tenths) tenths of a second, the quietest at \(state.quietest.text(1)) dBFS, "
                + "\(state.silent) silent, \(state.errors) decoding errors"
        }
    }

    /// Tenths of a second that were silent, plus decoding errors.
    var faults: Int { state.withLock { $0.silent + $0.errors } }
}

/// Checks the program's keyframes: a host with an ever-changing video is always on air, so no two of them are equal,
/// and none is dark.
final class SoakVideoMonitor: Sendable {
    private struct VideoState: ~Copyable {
        var decoder: VideoDecoder?
        var canvas: Canvas?
        var last: UInt64?
        var frames = 0
        var still = 0
        var dark = 0
        var errors = 0

        mutating func receive(_ packet: MediaPacket) throws(CodecError) {
            if packet.isConfiguration {
                decoder = try VideoDecoder(configuration: packet)
                return
            }
            var shown: [VideoFrame] = []
            try decoder?.decode(packet) { shown.append($0) }
            for frame in shown { try analyze(frame) }
        }

        private mutating func analyze(_ frame: VideoFrame) throws(CodecError) {
            if canvas == nil { canvas = try Canvas(width: 320, height: 180) }
            guard let canvas else { return }
            try canvas.draw(frame, in: canvas.bounds)
            frames += 1
            if canvas.averageColour(of: canvas.bounds).y < SoakVideoMonitor.darkness { dark += 1 }
            let fingerprint = canvas.fingerprint
            if fingerprint == last { still += 1 }
            last = fingerprint
        }
    }

    /// The luma below which a frame is dark, slightly above black.
    private static let darkness: UInt8 = 20
    /// Seconds from one keyframe to the next.
    private static let spacing = 2.0

    private let state = Mutex(VideoState())

    /// Decodes and checks the next keyframe of the program.
    func receive(_ packet: MediaPacket) {
        guard packet.isVideo, packet.isConfiguration || packet.isKeyframe else { return }
        state.withLock { state in
            do throws(CodecError) {
                try state.receive(packet)
            } catch {
                state.errors += 1
            }
        }
    }

    /// The results, in one line.
    var summary: String {
        state.withLock { state in
            "video: \(state.frames) keyframes, \(state.still) equal to the one before, \(state.dark) dark, "
                + "\(state.errors) decoding errors"
        }
    }

    /// Returns the failed checks of a show of `seconds`.
    func faults(seconds: Double) -> [String] {
        state.withLock { state in
            var faults: [String] = []
            if state.still > 0 { faults.append("the video froze \(state.still) times") }
            if state.dark > 0 { faults.append("the video was dark \(state.dark) times") }
            if state.errors > 0 { faults.append("\(state.errors) frames could not be decoded") }
            let least = Int(seconds / Self.spacing * 0.9) - 3
            if state.frames < least { faults.append("only \(state.frames) keyframes were received, of \(least)") }
            return faults
        }
    }
}
