import Foundation
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Sequence parameter sets say what ffprobe says", .enabled(if: TestRun.isFull), .serialized)
struct SequenceParameterSetTests {
    struct Encoding: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var size = "320x180"
        var rate = "25"
        var filter = "setsar=1"
        var pixelFormat = "yuv420p"
        var options: [String] = []
    }

    static let encodings = [
        Encoding(testDescription: "1080 lines, coded as 1088", size: "1920x1080", rate: "30"),
        Encoding(testDescription: "cropped both ways", size: "638x358", rate: "30000/1001"),
        Encoding(testDescription: "portrait", size: "720x1280"),
        Encoding(
            testDescription: "fields",
            size: "720x576",
            filter: "setsar=16/15",
            options: ["-flags", "+ildct+ilme", "-x264-params", "interlaced=1"]
        ),
        Encoding(testDescription: "fields, cropped", size: "1920x1080", options: ["-x264-params", "interlaced=1"]),
        Encoding(testDescription: "4:2:2", size: "638x358", pixelFormat: "yuv422p"),
        Encoding(testDescription: "4:4:4, ten bits", size: "318x238", pixelFormat: "yuv444p10le"),
        Encoding(testDescription: "ten bits", pixelFormat: "yuv420p10le"),
        Encoding(
            testDescription: "full range of BT.709",
            options: [
                "-color_range", "pc", "-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709",
            ]
        ),
        Encoding(
            testDescription: "BT.601 and scaling lists",
            options: [
                "-color_range", "tv", "-color_primaries", "smpte170m", "-color_trc", "smpte170m", "-colorspace",
                "smpte170m", "-x264-params", "cqm=jvt:nal-hrd=cbr:vbv-maxrate=500:vbv-bufsize=500:bitrate=500",
            ]
        ),
        Encoding(testDescription: "Baseline", options: ["-profile:v", "baseline"]),
    ]

    @Test("size, shape, colours and rate", arguments: encodings)
    func fields(encoding: Encoding) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("footlight-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("picture.h264")
        try Tool.run(
            [
                "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=\(encoding.size):r=\(encoding.rate)",
                "-frames:v", "2", "-vf", encoding.filter, "-pix_fmt", encoding.pixelFormat, "-c:v", "libx264",
                "-preset", "superfast", "-threads", "1",
            ] + encoding.options + [file.path]
        )
        let found = try probe(file)
        let stream = ByteBuffer(bytes: try Data(contentsOf: file))
        let unit = try #require(NALUnits.units(inAnnexB: stream).first { $0.kind == .sequenceParameters })
        let set = try SequenceParameterSet(unit.bytes)

        #expect(set.width == Int(found["width"] ?? ""))
        #expect(set.height == Int(found["height"] ?? ""))
        #expect(set.level == UInt8(found["level"] ?? ""))
        #expect("\(set.sampleAspectRatio.width):\(set.sampleAspectRatio.height)" == found["sample_aspect_ratio"])
        #expect(set.isInterlaced == encoding.options.contains { $0.contains("interlaced=1") })
        let chroma = [1: "yuv420p", 2: "yuv422p", 3: "yuv444p"][set.chromaFormat] ?? ""
        let depth = set.lumaBitDepth == 8 ? "" : "\(set.lumaBitDepth)le"
        let format = (found["pix_fmt"] ?? "").replacingOccurrences(of: "yuvj", with: "yuv")
        #expect(chroma + depth == format)
        #expect(set.chromaBitDepth == set.lumaBitDepth)
        #expect((set.usability?.isFullRange == true) == (found["color_range"] == "pc"))
        let matrices: [UInt8: String] = [1: "bt709", 6: "smpte170m", 2: "unknown"]
        #expect(matrices[set.usability?.colour?.matrix ?? 2] == found["color_space"])
        let rate = encoding.rate.split(separator: "/").compactMap { Double($0) }
        let expected = rate[0] / (rate.count == 2 ? rate[1] : 1)
        #expect(abs((set.frameRate ?? 0) - expected) < 0.001)
    }

    private func probe(_ file: URL) throws -> [String: String] {
        let text = try Tool.run(["ffprobe", "-v", "error", "-show_streams", file.path])
        var fields: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let pair = line.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { fields[String(pair[0])] = String(pair[1]) }
        }
        return fields
    }
}

/// Runs a command line tool to its end.
enum Tool {
    struct Failure: Error {
        let command: String
        let output: String
    }

    /// What `arguments` prints; after 20 seconds the process is ended, and that is a failure.
    @discardableResult
    static func run(_ arguments: [String]) throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let watchdog = DispatchWorkItem { process.terminate() }
        DispatchQueue.global().asyncAfter(deadline: .now() + 20, execute: watchdog)
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        watchdog.cancel()
        let text = String(decoding: output, as: UTF8.self)
        guard process.terminationStatus == 0 else {
            throw Failure(command: arguments.joined(separator: " "), output: text)
        }
        return text
    }
}
