import Foundation
import Glibc
import Media
import Synchronization
import TestSupport

/// A stream encoded once by ffmpeg and cached for later runs.
struct Clip {
    /// The path of the FLV file.
    let path: String
    let seconds: Int

    /// The clip's packets, as a feed carries them.
    var packets: [MediaPacket] {
        get throws { try FLVFile(path: path).packets }
    }

    /// Makes a camera stream as hosts send it: 1280x720 at 30 fps, with audio.
    ///
    /// H.264 High at 2.5 Mb/s with two B-frames and CABAC, AAC at 128 kb/s; each `number` has its own colours and tone.
    static func host(_ number: Int, seconds: Int) async throws -> Clip {
        try await make(
            "host-\(number)",
            seconds: seconds,
            source: "testsrc2=size=1280x720:rate=30",
            filter: "noise=alls=6:allf=t,hue=h=\(number * 70),format=yuv420p",
            tone: 440 + 110 * number,
            video: ["-preset", "medium", "-profile:v", "high", "-bf", "2", "-g", "60"] + constantRate(2500),
            audioBitrate: 128
        )
    }

    /// Makes a finished 1080p30 program at 8 Mb/s, with audio.
    static func composition(seconds: Int) async throws -> Clip {
        try await make(
            "composition",
            seconds: seconds,
            source: "testsrc2=size=1920x1080:rate=30",
            filter: "noise=alls=6:allf=t,format=yuv420p",
            tone: 440,
            video: fastVideo + constantRate(8000),
            audioBitrate: 128
        )
    }

    /// Makes the program of the fan-out measurements, 30 fps.
    ///
    /// - Parameter kilobits: Kilobits per second, audio included; from 1,500 on the video is 1280x720 instead of
    ///   640x360.
    static func program(hasAudio: Bool, seconds: Int, kilobits: Int = 500) async throws -> Clip {
        let video = hasAudio ? kilobits - 60 : kilobits
        return try await make(
            "program-\(hasAudio ? "av" : "v")-\(kilobits)",
            seconds: seconds,
            source: "testsrc2=size=\(kilobits < 1500 ? "640x360" : "1280x720"):rate=30",
            filter: "noise=alls=8:allf=t,format=yuv420p",
            tone: hasAudio ? 440 : nil,
            video: fastVideo + constantRate(video),
            audioBitrate: 60
        )
    }

    /// Makes the program of one output: 2.6 Mb/s with audio.
    static func output(seconds: Int) async throws -> Clip {
        try await make(
            "output",
            seconds: seconds,
            source: "testsrc2=size=1280x720:rate=30",
            filter: "noise=alls=8:allf=t,format=yuv420p",
            tone: 440,
            video: fastVideo + constantRate(2472),
            audioBitrate: 128
        )
    }

    private static let fastVideo = [
        "-preset", "veryfast", "-tune", "zerolatency", "-g", "60", "-sc_threshold", "0",
    ]

    private static func constantRate(_ kilobits: Int) -> [String] {
        ["-b:v", "\(kilobits)k", "-maxrate", "\(kilobits)k", "-bufsize", "\(kilobits)k", "-nal-hrd", "cbr"]
    }

    private static func make(
        _ name: String,
        seconds: Int,
        source: String,
        filter: String,
        tone: Int?,
        video: [String],
        audioBitrate: Int
    ) async throws -> Clip {
        let folder = NSTemporaryDirectory() + "/footlight-bench"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let clip = Clip(path: "\(folder)/\(name)-\(seconds)s.flv", seconds: seconds)
        guard !FileManager.default.fileExists(atPath: clip.path) else { return clip }
        var arguments = ["ffmpeg", "-v", "error", "-nostdin", "-y"]
        arguments += ["-f", "lavfi", "-i", "\(source):duration=\(seconds)"]
        if let tone {
            // Some noise, because encoding a pure tone costs too little.
            let wave = "0.2*sin(\(tone)*2*PI*t)+0.1*(random(0)-0.5)"
            arguments += ["-f", "lavfi", "-i", "aevalsrc=exprs=\(wave):sample_rate=48000:duration=\(seconds)"]
            arguments += ["-c:a", "aac", "-ac", "2", "-b:a", "\(audioBitrate)k"]
        }
        // Written to a temporary name first, so that an interrupted run leaves no incomplete clip.
        let unfinished = clip.path + ".part"
        arguments += ["-vf", filter, "-c:v", "libx264"] + video + ["-f", "flv", unfinished]
        try await ChildProcess.run(arguments, within: .seconds(300))
        try FileManager.default.moveItem(atPath: unfinished, toPath: clip.path)
        return clip
    }
}

/// Sends a clip in a loop at the speed of a live stream, on its own thread.
///
/// Timestamps continue from loop to loop: packet times are those of the feed, in milliseconds since its start.
final class LiveFeed: Sendable {
    private let isStopped = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Starts the feed at once.
    ///
    /// - Parameter onPacket: Called on the feed's thread at each packet's time.
    init(_ clip: Clip, onPacket: @escaping @Sendable (MediaPacket) -> Void) throws {
        let packets = try clip.packets
        let length = Int64(clip.seconds) * 1000
        Thread.detachNewThread {
            self.run(packets, length: length, onPacket: onPacket)
            self.hasEnded.signal()
        }
    }

    /// Stops the feed, and returns when `onPacket` is no longer called; called once.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        hasEnded.wait()
    }

    private func run(_ packets: [MediaPacket], length: Int64, onPacket: (MediaPacket) -> Void) {
        let start = MonotonicTime.now()
        var round: Int64 = 0
        while true {
            for var packet in packets {
                if round > 0, packet.isConfiguration { continue }
                packet.timestamp += round * length
                sleepUntil(start.advanced(milliseconds: packet.timestamp))
                if isStopped.load(ordering: .relaxed) { return }
                onPacket(packet)
            }
            round += 1
        }
    }
}

/// Blocks the calling thread until `moment`; returns at once if it has passed.
func sleepUntil(_ moment: MonotonicTime) {
    var time = timespec(
        tv_sec: Int(moment.nanoseconds / 1_000_000_000),
        tv_nsec: Int(moment.nanoseconds % 1_000_000_000)
    )
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
}
