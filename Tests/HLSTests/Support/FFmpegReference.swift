import Foundation

/// The decoding result of FFmpeg for a file or playlist, as the reference.
enum FFmpegReference {
    /// Returns the checksums of the decoded video (`v`) or audio (`a`) frames, in order.
    static func frames(_ input: URL, stream: String) throws -> [String] {
        let lines = try CommandLineTool.lines([
            "ffmpeg", "-v", "error", "-i", input.path, "-map", "0:\(stream):0", "-fps_mode", "passthrough",
            "-f", "framemd5", "-",
        ])
        return lines.filter { !$0.hasPrefix("#") }
            .compactMap { $0.split(separator: ",").last?.trimmingCharacters(in: .whitespaces) }
    }

    struct PacketTimes: Equatable {
        var presentation: Double
        var decode: Double
        var duration: Double
        var isKey: Bool
    }

    /// Returns the packets of one stream as demuxed.
    static func packets(_ input: URL, stream: String) throws -> [PacketTimes] {
        let lines = try CommandLineTool.lines([
            "ffprobe", "-v", "error", "-select_streams", stream, "-show_entries",
            "packet=pts_time,dts_time,duration_time,flags", "-of", "csv=p=0", input.path,
        ])
        return lines.compactMap { line in
            let fields = line.split(separator: ",").map(String.init)
            guard fields.count >= 4, let pts = Double(fields[0]), let dts = Double(fields[1]) else { return nil }
            return PacketTimes(
                presentation: pts,
                decode: dts,
                duration: Double(fields[2]) ?? 0,
                isKey: fields[3].hasPrefix("K")
            )
        }
    }
}

/// Runs command line tools and returns their output.
enum CommandLineTool {
    struct Failure: Error {
        let command: String
        let output: String
    }

    /// Runs `arguments`; throws if the tool fails or exceeds `deadline` seconds.
    @discardableResult
    static func run(_ arguments: [String], deadline: Double = 30) throws -> Data {
        let folder = FileManager.default.temporaryDirectory
        let output = folder.appendingPathComponent("footlight-\(UUID().uuidString).out")
        try Data().write(to: output)
        defer { try? FileManager.default.removeItem(at: output) }
        let handle = try FileHandle(forWritingTo: output)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
        let watchdog = DispatchWorkItem { process.terminate() }
        DispatchQueue.global().asyncAfter(deadline: .now() + deadline, execute: watchdog)
        process.waitUntilExit()
        watchdog.cancel()
        try handle.close()
        let data = try Data(contentsOf: output)
        guard process.terminationStatus == 0 else {
            throw Failure(command: arguments.joined(separator: " "), output: String(decoding: data, as: UTF8.self))
        }
        return data
    }

    /// Runs a tool and returns its output lines.
    static func lines(_ arguments: [String]) throws -> [String] {
        String(decoding: try run(arguments), as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
