import FootlightTesting
import Foundation
import Media

/// A stream coded once by ffmpeg and kept for later runs.
struct Clip {
    /// The file.
    let path: String
    let seconds: Int

    /// Its packets as a feed would carry them.
    var packets: [MediaPacket] {
        get throws { try FLVFile(path: path).packets }
    }

    /// A camera as hosts send it: 1280x720 at 30 pictures a second, with sound.
    ///
    /// H.264 High at 2.5 Mb/s with two B-frames and CABAC, AAC at 128 kb/s; each `number` has its own colours and tone.
    static func host(_ number: Int, seconds: Int) async throws -> Clip {
        try await make(
            "host-\(number)",
            seconds: seconds,
            picture: "testsrc2=size=1280x720:rate=30",
            filter: "noise=alls=6:allf=t,hue=h=\(number * 70),format=yuv420p",
            tone: 440 + 110 * number,
            video: ["-preset", "medium", "-profile:v", "high", "-bf", "2", "-g", "60"] + constantRate(2500),
            audioBitrate: 128
        )
    }

    /// A finished program in full size: 1920x1080 at 30 pictures a second, 8 Mb/s, with sound.
    static func composition(seconds: Int) async throws -> Clip {
        try await make(
            "composition",
            seconds: seconds,
            picture: "testsrc2=size=1920x1080:rate=30",
            filter: "noise=alls=6:allf=t,format=yuv420p",
            tone: 440,
            video: fastVideo + constantRate(8000),
            audioBitrate: 128
        )
    }

    /// What an audience is sent in the fan-out's measurements, 30 pictures a second.
    ///
    /// - Parameter kilobits: A second, sound included; from 1,500 on the picture is 1280x720 instead of 640x360.
    static func program(hasSound: Bool, seconds: Int, kilobits: Int = 500) async throws -> Clip {
        let video = hasSound ? kilobits - 60 : kilobits
        return try await make(
            "program-\(hasSound ? "av" : "v")-\(kilobits)",
            seconds: seconds,
            picture: "testsrc2=size=\(kilobits < 1500 ? "640x360" : "1280x720"):rate=30",
            filter: "noise=alls=8:allf=t,format=yuv420p",
            tone: hasSound ? 440 : nil,
            video: fastVideo + constantRate(video),
            audioBitrate: 60
        )
    }

    /// One output's program: 2.6 Mb/s with sound.
    static func output(seconds: Int) async throws -> Clip {
        try await make(
            "output",
            seconds: seconds,
            picture: "testsrc2=size=1280x720:rate=30",
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
        picture: String,
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
        arguments += ["-f", "lavfi", "-i", "\(picture):duration=\(seconds)"]
        if let tone {
            // Some noise, because a bare tone is no work for a sound coder.
            let wave = "0.2*sin(\(tone)*2*PI*t)+0.1*(random(0)-0.5)"
            arguments += ["-f", "lavfi", "-i", "aevalsrc=exprs=\(wave):sample_rate=48000:duration=\(seconds)"]
            arguments += ["-c:a", "aac", "-ac", "2", "-b:a", "\(audioBitrate)k"]
        }
        // Written under another name first, so that a run that was cut short leaves no clip.
        let unfinished = clip.path + ".part"
        arguments += ["-vf", filter, "-c:v", "libx264"] + video + ["-f", "flv", unfinished]
        try await ChildProcess.run(arguments, within: .seconds(300))
        try FileManager.default.moveItem(atPath: unfinished, toPath: clip.path)
        return clip
    }
}
