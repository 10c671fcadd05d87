import FootlightTesting
import Foundation
import Media
import Stage
import Testing

@Suite("A room goes backstage and on air again", .serialized, .timeLimit(.minutes(1)))
struct BackstageTests {
    @Test("Backstage the audience sees a slate and hears nothing, while the hosts stay; both change within a second")
    func backstage() async throws {
        let stage = try await FaultStage(room: "green")
        let (gateway, folder) = (stage.gateway, stage.folder)
        let red = try await stage.join("red")
        let host = try stage.publish(try await stage.clip(HostScript(.red, tone: 330)), as: red)
        try await stage.waitUntilOnAir()
        try await Task.sleep(for: .seconds(2))

        let path = folder.file("program.flv")
        let recorder = try Recorder.curl(gateway.flvURL(room: stage.room), seconds: 40, to: path)
        let tail = FLVTail(path: path)
        var times = ShowTimes()
        try await times.window("on air", of: 1)
        let hidden = try await stage.expect(200, "POST", "/v1/rooms/\(stage.room)/stop_live")
        #expect(hidden["backstage"].bool == true)
        try await times.window("backstage", of: 2)
        let shown = try await stage.expect(200, "POST", "/v1/rooms/\(stage.room)/go_live")
        #expect(shown["backstage"].bool == false)
        try await times.window("on air again", of: 2)
        recorder.child.end()

        let recording = try await Recording(path: path)
        let sound = try await recording.sound()
        let show = RecordedShow(recording: recording, arrivals: tail.all, times: times)
        let upper = TileRectangle(x: 0, y: 0, width: 1280, height: 480)
        for (window, isOnAir) in [("on air", true), ("backstage", false), ("on air again", true)] {
            let range = try show.range(of: window)
            for picture in try await recording.pictures(at: [range.lowerBound, range.upperBound]) {
                let seen = picture.colour(of: upper)
                #expect(seen.distance(to: isOnAir ? .red : .background) < 30, "\(window): \(seen)")
            }
            let level = sound.toneLevel(frequency: 330, from: range.lowerBound, to: range.upperBound)
            #expect(isOnAir ? abs(level + 12) < 1 : level < -50, "\(window): \(level) dB")
        }
        #expect(recording.backwardSteps == 0 && recording.largestGap(.video) < 0.1)
        #expect(host.isRunning)
        #expect(try await stage.expect(200, "GET", stage.path("participants/red"))["status"].string == "connected")
    }
}
