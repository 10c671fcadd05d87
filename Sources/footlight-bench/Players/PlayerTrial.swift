import Foundation
import TestSupport

/// One player that plays the program by one protocol and writes what it decoded: stills and an audio file.
struct PlayerTrial: Sendable {
    /// A protocol, by its name in the counts.
    enum Method: String {
        case rtmp
        case flv
        case hls
        case llhls
    }

    /// Stills per second of program, the first one at once.
    static let stillsPerSecond = 2
    /// A libavfilter graph that passes every fifteenth frame of thirty per second.
    private static let selection = "select='not(mod(n,\(30 / stillsPerSecond)))',scale=640:-2"

    let player: String
    let method: Method
    /// The client class by which the player must be counted.
    let client: String
    /// The required program.
    let tool: String
    /// The command line; nil for a browser.
    let command: (@Sendable (_ url: String, _ folder: String) -> [String])?
    /// Whether the player records the stream into `out.flv`, to be decoded afterwards.
    var isRecorder = false
    /// Whether the player refuses to run as root.
    var isUnprivileged = false
    /// One in `stride` of the player's stills is checked.
    var stride = 1

    var name: String { "\(player) \(method.rawValue)" }

    /// Returns the players packaged by Debian, each with the protocols that it supports.
    ///
    /// HLS players are apart from each other, so that one is no longer counted when the next one starts.
    ///
    /// - Parameter seconds: The playback duration of each.
    static func all(seconds: Int) -> [PlayerTrial] {
        let methods: [Method] = [.hls, .rtmp, .flv]
        return methods.map { ffmpeg($0, seconds) } + methods.map { vlc($0, seconds) } + methods.map { mpv($0, seconds) }
            + methods.map { gstreamer($0, seconds) } + [rtmpdump(seconds)]
    }

    private static func ffmpeg(_ method: Method, _ seconds: Int) -> PlayerTrial {
        PlayerTrial(player: "ffmpeg", method: method, client: "tool", tool: "ffmpeg") { url, folder in
            // One thread writes each still at once; several threads would delay one each.
            let video = ["-map", "0:v", "-vf", selection, "-fps_mode", "vfr", "-threads", "1"]
            let command = ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-t", "\(seconds)", "-i", url]
            return command + video + ["\(folder)/still%03d.png", "-map", "0:a", "\(folder)/sound.wav"]
        }
    }

    private static func vlc(_ method: Method, _ seconds: Int) -> PlayerTrial {
        let stills = "--scene-prefix still --scene-format png --scene-ratio \(30 / stillsPerSecond) --scene-width 640"
        let options = "-I dummy -q --run-time \(seconds) --play-and-exit --vout dummy --video-filter scene \(stills)"
        let command = ["cvlc"] + options.split(separator: " ").map(String.init)
        return PlayerTrial(
            player: "VLC",
            method: method,
            client: "tool",
            tool: "cvlc",
            command: { url, folder in
                let audio = ["--aout", "afile", "--audiofile-file", "\(folder)/sound.wav"]
                return command + ["--scene-path", folder] + audio + [url, "vlc://quit"]
            },
            isUnprivileged: true
        )
    }

    private static func mpv(_ method: Method, _ seconds: Int) -> PlayerTrial {
        PlayerTrial(player: "mpv", method: method, client: "tool", tool: "mpv") { url, folder in
            let video = ["--vo=image", "--vo-image-format=png", "--vo-image-outdir=\(folder)"]
            let audio = ["--ao=pcm", "--ao-pcm-file=\(folder)/sound.wav"]
            return ["mpv", "--no-config", "--really-quiet", "--length=\(seconds)"]
                + ["--vf=lavfi=[\(selection)]"] + video + audio + [url]
        }
    }

    private static func gstreamer(_ method: Method, _ seconds: Int) -> PlayerTrial {
        let tool = "gst-launch-1.0"
        var trial = PlayerTrial(player: "GStreamer", method: method, client: "tool", tool: tool) { url, folder in
            let video = """
                d. ! queue ! videoconvert ! videoscale ! video/x-raw,width=640,height=360 ! pngenc ! multifilesink location=\(folder)/still%03d.png
                """
            let audio =
                "d. ! queue ! audioconvert ! audio/x-raw,format=S16LE ! wavenc ! filesink location=\(folder)/sound.wav"
            let pipeline = "uridecodebin name=d uri=\(url) \(video) \(audio)"
            // An interrupt ends the stream cleanly, so that the files are complete.
            return ["timeout", "-s", "INT", "\(seconds + 1)", "gst-launch-1.0", "-q", "-e"]
                + pipeline.split(separator: " ").map(String.init)
        }
        // GStreamer has no element that passes single frames without delaying some.
        trial.stride = 30 / stillsPerSecond
        return trial
    }

    private static func rtmpdump(_ seconds: Int) -> PlayerTrial {
        PlayerTrial(
            player: "rtmpdump",
            method: .rtmp,
            client: "tool",
            tool: "rtmpdump",
            command: { url, folder in
                let command = ["rtmpdump", "-q", "--live", "-r", url, "-o", "\(folder)/out.flv"]
                return ["timeout", "-s", "INT", "\(seconds)"] + command
            },
            isRecorder: true
        )
    }
}

/// The media that a player decoded, as measured from its files.
struct PlayedMedia {
    /// Stills with more than a single colour, and all stills.
    var frames = (good: 0, all: 0)
    /// The mean audio level in dB below full scale; nil without audio.
    var level: Double?
    /// Seconds from the player's start to the first frame; nil when unknown.
    var join: Double?
    /// Milliseconds from the capture of frames until the player had decoded them.
    var ages = Samples()

    /// The maximum spread of a still of one colour, such as black.
    private static let leastSpread = 10.0

    /// Reads the folder of a player.
    ///
    /// - Parameters:
    ///   - start: When the player started; nil when the stills were made afterwards.
    ///   - step: One in `step` stills is checked.
    init(in folder: String, since start: Date?, every step: Int = 1) async throws {
        let stills = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".png") }
            .sorted()
        for still in stride(from: 0, to: stills.count, by: max(step, 1)).map({ stills[$0] }) {
            frames.all += 1
            if let spread = try? await Self.spread(of: "\(folder)/\(still)"), spread > Self.leastSpread {
                frames.good += 1
            }
            guard let start, let written = try Self.date(of: "\(folder)/\(still)") else { continue }
            join = join ?? written.timeIntervalSince(start)
            if let code = try? await TimeCode.read(file: "\(folder)/\(still)") {
                ages.add(TimeCode.age(of: code, at: written))
            }
        }
        if FileManager.default.fileExists(atPath: "\(folder)/sound.wav") {
            level = try await Self.level(of: "\(folder)/sound.wav")
        }
    }

    /// - Parameters:
    ///   - frames: Frames decoded, all of them counted as good.
    init(frames: Int, level: Double?, join: Double, ages: Samples) {
        self.frames = (frames, frames)
        self.level = level
        self.join = join
        self.ages = ages
    }

    /// Decodes a recording into stills and an audio file.
    static func decode(_ recording: String, to folder: String) async throws {
        let video = [
            "-map", "0:v", "-vf", "fps=\(PlayerTrial.stillsPerSecond),scale=640:-2", "\(folder)/still%03d.png",
        ]
        try await ChildProcess.run(
            ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", recording] + video
                + ["-map", "0:a", "\(folder)/sound.wav"],
            within: .seconds(30)
        )
    }

    /// Returns the standard deviation of the luma, 0 to 128.
    static func spread(of image: String) async throws -> Double {
        let folder = try TemporaryFolder("still")
        try await ChildProcess.run(
            [
                "ffmpeg", "-nostdin", "-loglevel", "error", "-i", image, "-vf", "scale=64:36,format=gray",
                "-f", "rawvideo", folder.file("raw"),
            ],
            within: .seconds(10)
        )
        let bytes = (FileManager.default.contents(atPath: folder.file("raw")) ?? Data()).map { Double($0) }
        guard !bytes.isEmpty else { return 0 }
        let mean = bytes.reduce(0, +) / Double(bytes.count)
        return (bytes.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(bytes.count)).squareRoot()
    }

    private static func date(of file: String) throws -> Date? {
        try FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date
    }

    private static func level(of audio: String) async throws -> Double? {
        let meter = try ChildProcess([
            "ffmpeg", "-nostdin", "-hide_banner", "-i", audio, "-af", "volumedetect", "-f", "null", "-",
        ])
        _ = try await meter.wait(.seconds(10))
        let said = meter.standardError.firstMatch(of: /mean_volume: (-?[0-9.]+) dB/)
        return said.flatMap { Double($0.output.1) }
    }
}

/// Chromium with one of the pages that can play.
struct BrowserTrial {
    let name: String
    let method: PlayerTrial.Method
    let page: BrowserPage

    /// Plays for `seconds`, and calls `poll` four times a second.
    ///
    /// - Returns: The measured media.
    func play(
        room: String,
        query: String = "",
        _ gateway: GatewayProcess,
        seconds: Int,
        still: String,
        poll: () async throws -> Void
    ) async throws -> PlayedMedia {
        let browser = try await HeadlessBrowser(width: 640, height: 480)
        let join = try await page.open(room, query: query, at: gateway, in: browser)
        guard try await browser.waits(for: "video.currentTime > 0.2", within: .seconds(20)) else {
            throw ToolFailure("\(name): nothing plays", log: browser.consoleErrors.joined(separator: "\n"))
        }
        _ = try await browser.evaluate(Self.meter)
        let reader = PageReader(browser)
        try await reader.begin()
        let before = try await frames(browser)
        for _ in 0..<seconds * 4 {
            try await poll()
            try await Task.sleep(for: .milliseconds(250))
        }
        let shown = try await frames(browser) - before
        let level = try await browser.evaluate("20 * Math.log10(Math.max(globalThis.loudest, 1e-6))").double
        try await browser.captureScreenshot(to: still)
        return PlayedMedia(frames: shown, level: level, join: join, ages: try await reader.read().ages)
    }

    private func frames(_ browser: HeadlessBrowser) async throws -> Int {
        try await browser.evaluate("video.getVideoPlaybackQuality().totalVideoFrames").int ?? 0
    }

    /// A script that measures the maximum audio level in `globalThis.loudest`.
    private static let meter = """
        video.muted = false;
        globalThis.loudest = 0;
        const context = new AudioContext();
        const ear = context.createAnalyser();
        const source = context.createMediaElementSource(video);
        source.connect(ear);
        ear.connect(context.destination);
        const wave = new Float32Array(ear.fftSize);
        setInterval(() => {
            ear.getFloatTimeDomainData(wave);
            const level = Math.sqrt(wave.reduce((sum, value) => sum + value * value, 0) / wave.length);
            globalThis.loudest = Math.max(globalThis.loudest, level);
        }, 100);
        void context.resume(); 0
        """
}
