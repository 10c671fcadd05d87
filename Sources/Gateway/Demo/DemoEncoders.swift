import Foundation
import Synchronization

/// Two ffmpeg processes that play hosts; they end with the demo.
final class DemoEncoders: Sendable {
    /// What a synthetic host shows and sounds like: pictures that move, and cost so little that it keeps up for as long as
    /// the demo is on, whatever the machine.
    enum Look {
        case bars
        case gradients

        fileprivate var picture: String {
            switch self {
            case .bars: "testsrc2=size=1280x720:rate=30"
            case .gradients: "gradients=size=320x180:rate=30:speed=0.02:nb_colors=4:seed=7,scale=1280:720"
            }
        }

        fileprivate var tone: Int {
            switch self {
            case .bars: 440
            case .gradients: 660
            }
        }
    }

    private let running = Mutex<[Process]>([])

    /// Starts an encoder that publishes to `address`.
    func start(_ look: Look, address: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-hide_banner", "-loglevel", "error", "-re"]
            + ["-f", "lavfi", "-i", look.picture, "-f", "lavfi", "-i", "sine=frequency=\(look.tone):sample_rate=48000"]
            + ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-pix_fmt", "yuv420p", "-g", "60"]
            + ["-b:v", "1500k", "-c:a", "aac", "-b:a", "96k", "-f", "flv", address]
        process.standardInput = FileHandle.nullDevice
        // Its parting words would show the stream key.
        process.standardError = FileHandle.nullDevice
        try process.run()
        running.withLock { $0.append(process) }
    }

    /// Whether none of them has ended.
    var areRunning: Bool { running.withLock { $0.allSatisfy(\.isRunning) } }

    func end() {
        let processes = running.withLock { running in
            defer { running.removeAll() }
            return running
        }
        for process in processes where process.isRunning { process.terminate() }
    }
}
