import FootlightTesting
import Foundation

/// One player that plays the program in one way, and leaves behind what it decoded: stills and a sound file.
struct PlayerTrial: Sendable {
    /// A way to play, by its name in the counts.
    enum Way: String {
        case rtmp
        case flv
        case hls
        case llhls
    }

    /// Two stills of each second of program, the first one at once.
    static let stillsPerSecond = 2
    /// Lets every fifteenth picture of thirty a second pass, as libavfilter writes it.
    private static let selection = "select='not(mod(n,\(30 / stillsPerSecond)))',scale=640:-2"

    let player: String
    let way: Way
    /// The kind of player that it must be counted as.
    let client: String
    /// The program that must be there.
    let tool: String
    /// What is called; nil for a browser.
    let call: (@Sendable (_ url: String, _ folder: String) -> [String])?
    /// Whether the player writes all it gets into `out.flv`, to be decoded afterwards.
    var isRecorder = false
    /// Whether the player wants to be anybody but root.
    var isUnprivileged = false
    /// Of how many stills that it leaves one is looked at.
    var stride = 1

    var name: String { "\(player) \(way.rawValue)" }

    /// Everybody from Debian, each in the ways that it knows.
    ///
    /// Players by HLS are apart from each other, so that one is no longer counted when the next one comes.
    ///
    /// - Parameter seconds: How long each plays.
    static func all(seconds: Int) -> [PlayerTrial] {
        let ways: [Way] = [.hls, .rtmp, .flv]
        return ways.map { ffmpeg($0, seconds) } + ways.map { vlc($0, seconds) } + ways.map { mpv($0, seconds) }
            + ways.map { gstreamer($0, seconds) } + [rtmpdump(seconds)]
    }

    private static func ffmpeg(_ way: Way, _ seconds: Int) -> PlayerTrial {
        PlayerTrial(player: "ffmpeg", way: way, client: "tool", tool: "ffmpeg") { url, folder in
            // One thread writes each still when it comes; several would hold back one each.
            let pictures = ["-map", "0:v", "-vf", selection, "-fps_mode", "vfr", "-threads", "1"]
            let call = ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-t", "\(seconds)", "-i", url]
            return call + pictures + ["\(folder)/still%03d.png", "-map", "0:a", "\(folder)/sound.wav"]
        }
    }

    private static func vlc(_ way: Way, _ seconds: Int) -> PlayerTrial {
        let stills = "--scene-prefix still --scene-format png --scene-ratio \(30 / stillsPerSecond) --scene-width 640"
        let options = "-I dummy -q --run-time \(seconds) --play-and-exit --vout dummy --video-filter scene \(stills)"
        let call = ["cvlc"] + options.split(separator: " ").map(String.init)
        return PlayerTrial(
            player: "VLC",
            way: way,
            client: "tool",
            tool: "cvlc",
            call: { url, folder in
                let sound = ["--aout", "afile", "--audiofile-file", "\(folder)/sound.wav"]
                return call + ["--scene-path", folder] + sound + [url, "vlc://quit"]
            },
            isUnprivileged: true
        )
    }

    private static func mpv(_ way: Way, _ seconds: Int) -> PlayerTrial {
        PlayerTrial(player: "mpv", way: way, client: "tool", tool: "mpv") { url, folder in
            let pictures = ["--vo=image", "--vo-image-format=png", "--vo-image-outdir=\(folder)"]
            let sound = ["--ao=pcm", "--ao-pcm-file=\(folder)/sound.wav"]
            return ["mpv", "--no-config", "--really-quiet", "--length=\(seconds)"]
                + ["--vf=lavfi=[\(selection)]"] + pictures + sound + [url]
        }
    }

    private static func gstreamer(_ way: Way, _ seconds: Int) -> PlayerTrial {
        var trial = PlayerTrial(player: "GStreamer", way: way, client: "tool", tool: "gst-launch-1.0") { url, folder in
            let picture = """
                d. ! queue ! videoconvert ! videoscale ! video/x-raw,width=640,height=360 ! pngenc ! multifilesink location=\(folder)/still%03d.png
                """
            let sound =
                "d. ! queue ! audioconvert ! audio/x-raw,format=S16LE ! wavenc ! filesink location=\(folder)/sound.wav"
            let pipeline = "uridecodebin name=d uri=\(url) \(picture) \(sound)"
            // An interrupt ends the stream in order, so that the files are whole.
            return ["timeout", "-s", "INT", "\(seconds + 1)", "gst-launch-1.0", "-q", "-e"]
                + pipeline.split(separator: " ").map(String.init)
        }
        // It has nothing that lets pictures out by and by without holding some back.
        trial.stride = 30 / stillsPerSecond
        return trial
    }

    private static func rtmpdump(_ seconds: Int) -> PlayerTrial {
        PlayerTrial(
            player: "rtmpdump",
            way: .rtmp,
            client: "tool",
            tool: "rtmpdump",
            call: { url, folder in
                let call = ["rtmpdump", "-q", "--live", "-r", url, "-o", "\(folder)/out.flv"]
                return ["timeout", "-s", "INT", "\(seconds)"] + call
            },
            isRecorder: true
        )
    }
}
