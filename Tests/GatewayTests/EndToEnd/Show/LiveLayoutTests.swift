import Foundation
import Stage
import TestSupport
import Testing

@Suite("Joining and leaving hosts", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct LiveLayoutTests {
    private static let flashFrequency = 1000.0
    /// The area within the flashing host's tile with two and with three hosts, as fractions of the frame.
    private static let flashArea = (x: 0.70, y: 0.2, width: 0.28, height: 0.6)

    @Test("the grid follows hosts that join and leave, A/V sync holds, and no stream breaks")
    func joinAndLeave() async throws {
        let stage = try await RoomFixture(room: "show")
        let (gateway, folder) = (stage.gateway, stage.folder)
        let (red, blue) = (try await stage.join("red"), try await stage.join("blue"))
        // Far enough from the beep, and low enough that a resampling by half a percent stays within the filter's width.
        let redHost = try stage.publish(try await stage.clip(HostScript(.red, tone: 330)), as: red)
        let blueHost = try stage.publish(try await stage.clip(HostScript(.blue, tone: 500)), as: blue)
        let flashClip = try await stage.clip(.flashAndBeep(frequency: Self.flashFrequency), seconds: 20)
        try await stage.waitUntilOnAir()
        // HLS players start three segments back, where both hosts must be visible already.
        try await Task.sleep(for: .seconds(9))

        let recorders = [
            "RTMP": try FFmpeg.record(gateway.rtmpURL(room: stage.room), seconds: 24, to: folder.file("rtmp.mkv")),
            "HTTP-FLV": try FFmpeg.record(gateway.flvURL(room: stage.room), seconds: 24, to: folder.file("flv.mkv")),
            // Starts up to three segments back.
            "HLS": try FFmpeg.record(gateway.hlsURL(room: stage.room), seconds: 28, to: folder.file("hls.mkv")),
        ]
        try await Task.sleep(for: .seconds(4))
        let flash = try await stage.join("flash")
        let flashHost = try stage.publish(flashClip, as: flash)
        let third = try #require(try await stage.tile(of: flash))
        #expect(third == TileRectangle(x: 858, y: 0, width: 420, height: 720))
        #expect(try await stage.tile(of: red) == TileRectangle(x: 2, y: 0, width: 420, height: 720))

        try await Task.sleep(for: .seconds(9))
        #expect(try await gateway.api("DELETE", stage.path("participants/\(blue.sid)")).status == 204)
        #expect(try await stage.tile(of: blue) == nil)
        #expect(try await stage.tile(of: red) == TileRectangle(x: 0, y: 0, width: 636, height: 720))
        #expect(try await stage.tile(of: flash) == TileRectangle(x: 644, y: 0, width: 636, height: 720))
        #expect(try await blueHost.wait(.seconds(20)) != nil, "a host who left can still publish")

        for (name, recorder) in recorders {
            let recording = try await recorder.finish()
            checkTiming(of: recording, name: name)
            try await checkGrid(of: recording, name: name)
            try await checkAudio(of: recording, name: name)
            try await checkOffset(of: recording, clip: flashClip, name: name)
        }
        #expect(redHost.isRunning && flashHost.isRunning)
    }

    // MARK: Steps

    private func checkTiming(of recording: Recording, name: String) {
        #expect(recording.duration(.video) > 21, "\(name): \(recording.duration(.video)) s")
        #expect(abs(recording.frameRate - 30) < 0.005, "\(name): \(recording.frameRate) frames a second")
        #expect(recording.backwardSteps == 0, "\(name)")
        #expect(recording.largestGap(.video) < 0.040, "\(name): \(recording.largestGap(.video)) s between frames")
        #expect(recording.largestGap(.audio) < 0.0235, "\(name): \(recording.largestGap(.audio)) s between packets")
        #expect(recording.completeGOPs.allSatisfy { $0.frames == 60 }, "\(name): \(recording.completeGOPs)")
    }

    /// Expects two hosts, then three, then two in all frames of the recording.
    private func checkGrid(of recording: Recording, name: String) async throws {
        var phases: [Int] = []
        /// The first and the last frame of each phase, in seconds.
        var times: [ClosedRange<Double>] = []
        var backwards: [Double] = []
        var unclear: [Double] = []
        for frame in try await recording.allFrames(width: 320, height: 180) {
            let phase: Int? =
                switch (GridDetector.hosts(in: frame, columns: 2), GridDetector.hosts(in: frame, columns: 3)) {
                case ([.red, .blue], _): 0
                case (_, [.red, .blue, .flash]): 1
                case ([.red, .flash], _): 2
                default: nil
                }
            guard let phase else {
                unclear.append(frame.time)
                continue
            }
            if let last = phases.last, phase < last { backwards.append(frame.time) }
            phases.append(phase)
            if phase == times.count {
                times.append(frame.time...frame.time)
            } else if phase < times.count {
                times[phase] = times[phase].lowerBound...frame.time
            }
        }
        try #require(times.count == 3, "\(name): \(times)")
        // A joining host has a card until its first frame fades in, for at most a second.
        let card = times[0].upperBound...max(times[0].upperBound, times[1].lowerBound + 2)
        let elsewhere = unclear.filter { !card.contains($0) }
        #expect(unclear.count - elsewhere.count <= 30, "\(name): no known grid at \(unclear.prefix(10))")
        #expect(elsewhere.count <= 2, "\(name): no known grid at \(elsewhere.prefix(10)), and none joined")
        #expect(backwards.isEmpty, "\(name): the grid goes back at \(backwards)")
        for phase in 0...2 {
            let seconds = Double(phases.count { $0 == phase }) / 30
            #expect(seconds > [3, 8, 4][phase], "\(name): phase \(phase) lasts \(seconds) s")
        }
    }

    private func checkAudio(of recording: Recording, name: String) async throws {
        let audio = try await recording.decodedAudio()
        let end = audio.startTime + audio.duration
        for (tone, first, last) in [(330.0, true, true), (500, true, false)] {
            let levels = (
                audio.toneLevel(frequency: tone, from: 0.5, to: 2.5),
                audio.toneLevel(frequency: tone, from: end - 2.5, to: end - 0.5)
            )
            #expect(first ? abs(levels.0 + 12) < 1 : levels.0 < -50, "\(name), begin: \(tone) Hz at \(levels.0) dB")
            #expect(last ? abs(levels.1 + 12) < 1 : levels.1 < -50, "\(name), end: \(tone) Hz at \(levels.1) dB")
        }
    }

    private func checkOffset(of recording: Recording, clip: String, name: String) async throws {
        let own = try await Recording(path: clip).beepDelays(frequency: Self.flashFrequency)
        // The first flash may be incomplete.
        let seen = try await recording.beepDelays(frequency: Self.flashFrequency, area: Self.flashArea).dropFirst()
        #expect(own.count >= 15 && seen.count >= 10, "\(name): \(own.count) and \(seen.count) flashes")
        let sorted = seen.sorted()
        print(
            "\(name): \(seen.count) flashes, beep after flash: median",
            Int(sorted[sorted.count / 2]),
            "ms, from",
            Int(sorted.first ?? 0),
            "to",
            Int(sorted.last ?? 0),
            "ms; in what the host sent",
            Int(own[own.count / 2]),
            "ms"
        )
        // Half a frame interval (16.7 ms), the tolerance of the frame selection (1 ms), and the measurement.
        #expect(seen.allSatisfy { abs($0) <= 20 }, "\(name): \(sorted)")
    }
}

/// Detects in a frame of 320x180 which hosts are in which columns.
enum GridDetector {
    /// The content of a column.
    enum Host: Equatable {
        case red
        case blue
        /// The flashing host: black, white, or without video.
        case flash
        case unknown
    }

    /// Returns the hosts from left to right for a number of columns.
    static func hosts(in frame: RGBFrame, columns: Int) -> [Host] {
        (0..<columns).map { column in
            let middle = frame.width * (2 * column + 1) / (2 * columns)
            // Above the marker, away from the edges of the narrowest tile.
            return host(frame.averageColour(x: middle - 30, y: 20, width: 60, height: 90))
        }
    }

    private static func host(_ colour: Colour) -> Host {
        if colour.distance(to: .red) < 20 { return .red }
        if colour.distance(to: .blue) < 20 { return .blue }
        let isGrey = abs(colour.red - colour.green) < 12 && abs(colour.green - colour.blue) < 12
        return isGrey ? .flash : .unknown
    }
}
