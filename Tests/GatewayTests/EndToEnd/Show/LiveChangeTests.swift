import FootlightTesting
import Foundation
import Stage
import Testing

@Suite("Hosts come and go while people watch", .serialized, .timeLimit(.minutes(2)))
struct LiveChangeTests {
    private static let flashFrequency = 1000.0
    /// Within the tile of the host that flashes, whether three hosts are on air or two: fractions of the picture.
    private static let flashArea = (x: 0.70, y: 0.2, width: 0.28, height: 0.6)

    @Test("One joins and one leaves: the grid follows, picture and sound stay together, and nobody's stream breaks")
    func joinAndLeave() async throws {
        let stage = try await FaultStage(room: "show")
        let (gateway, folder) = (stage.gateway, stage.folder)
        let (red, blue) = (try await stage.join("red"), try await stage.join("blue"))
        // Far enough from the beep that one is not taken for the other, and low enough that what the mixer may resample
        // to hold a host's clock (half a percent) stays within the width of the measure.
        let redHost = try stage.publish(try await stage.clip(HostScript(.red, tone: 330)), as: red)
        let blueHost = try stage.publish(try await stage.clip(HostScript(.blue, tone: 500)), as: blue)
        let flashClip = try await stage.clip(.flashAndBeep(frequency: Self.flashFrequency), seconds: 20)
        try await stage.waitUntilOnAir()
        // HLS players begin three segments back, and both hosts are to be seen there.
        try await Task.sleep(for: .seconds(9))

        let recorders = [
            "RTMP": try FFmpeg.record(gateway.rtmpURL(room: stage.room), seconds: 24, to: folder.file("rtmp.mkv")),
            "HTTP-FLV": try FFmpeg.record(gateway.flvURL(room: stage.room), seconds: 24, to: folder.file("flv.mkv")),
            // Begins up to three segments in the past.
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
        #expect(try await blueHost.wait(.seconds(20)) != nil, "whoever left can go on publishing")

        for (name, recorder) in recorders {
            let recording = try await recorder.finish()
            checkTiming(of: recording, name: name)
            try await checkGrid(of: recording, name: name)
            try await checkSound(of: recording, name: name)
            try await checkOffset(of: recording, clip: flashClip, name: name)
        }
        #expect(redHost.isRunning && flashHost.isRunning)
    }

    // MARK: Steps

    private func checkTiming(of recording: Recording, name: String) {
        #expect(recording.duration(.video) > 21, "\(name): \(recording.duration(.video)) s")
        #expect(abs(recording.frameRate - 30) < 0.005, "\(name): \(recording.frameRate) frames a second")
        #expect(recording.backwardSteps == 0, "\(name)")
        #expect(recording.largestGap(.video) < 0.040, "\(name): \(recording.largestGap(.video)) s between pictures")
        #expect(recording.largestGap(.audio) < 0.0235, "\(name): \(recording.largestGap(.audio)) s between sounds")
        #expect(recording.pictureGroups.allSatisfy { $0.frames == 60 }, "\(name): \(recording.pictureGroups)")
    }

    /// Two hosts, then three, then two: each picture of the recording is one of these, in this order.
    private func checkGrid(of recording: Recording, name: String) async throws {
        var phases: [Int] = []
        /// From the first to the last picture of each phase, in seconds.
        var times: [ClosedRange<Double>] = []
        var backwards: [Double] = []
        var unclear: [Double] = []
        for picture in try await recording.allPictures(width: 320, height: 180) {
            let phase: Int? =
                switch (GridReading.hosts(in: picture, columns: 2), GridReading.hosts(in: picture, columns: 3)) {
                case ([.red, .blue], _): 0
                case (_, [.red, .blue, .flash]): 1
                case ([.red, .flash], _): 2
                default: nil
                }
            guard let phase else {
                unclear.append(picture.time)
                continue
            }
            if let last = phases.last, phase < last { backwards.append(picture.time) }
            phases.append(phase)
            if phase == times.count {
                times.append(picture.time...picture.time)
            } else if phase < times.count {
                times[phase] = times[phase].lowerBound...picture.time
            }
        }
        try #require(times.count == 3, "\(name): \(times)")
        // Whoever joins has a card until its first picture is there, and that fades in over the card, seconds later or not:
        // all that together is at most a second.
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

    private func checkSound(of recording: Recording, name: String) async throws {
        let sound = try await recording.sound()
        let end = sound.startTime + sound.duration
        for (tone, first, last) in [(330.0, true, true), (500, true, false)] {
            let levels = (
                sound.toneLevel(frequency: tone, from: 0.5, to: 2.5),
                sound.toneLevel(frequency: tone, from: end - 2.5, to: end - 0.5)
            )
            #expect(first ? abs(levels.0 + 12) < 1 : levels.0 < -50, "\(name), begin: \(tone) Hz at \(levels.0) dB")
            #expect(last ? abs(levels.1 + 12) < 1 : levels.1 < -50, "\(name), end: \(tone) Hz at \(levels.1) dB")
        }
    }

    private func checkOffset(of recording: Recording, clip: String, name: String) async throws {
        let own = try await Recording(path: clip).beepDelays(frequency: Self.flashFrequency)
        // The host may come on air in the middle of a flash, whose beginning nobody sees.
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
        // Half a picture of the program's grid (16.7 ms), what the choice of pictures gives way by (1 ms), and the measuring.
        #expect(seen.allSatisfy { abs($0) <= 20 }, "\(name): \(sorted)")
    }
}
