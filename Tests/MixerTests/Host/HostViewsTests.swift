import Codecs
import Media
import NIOCore
import Synchronization
import Testing

@testable import Mixer

@Suite("From when on a host is seen in another way") struct HostViewsTests {
    private let small = HostView.tile(width: 320, height: 180)
    private let large = HostView.tile(width: 640, height: 360)

    private func picture(_ timestamp: Int64) -> MediaPacket {
        .h264Picture(isKey: false, isDisposable: false, timestamp: timestamp, compositionOffset: 0, capacity: 8) {
            $0.writeInteger(UInt32(1))
        }
    }

    @Test("Another tile counts from a picture's time on, whatever is decoded before")
    func fromPicture() {
        var views = HostViews()
        views.change(to: small, from: nil)
        #expect(views.follow(nil) == small)
        views.change(to: large, from: 1000)
        views.change(to: .hidden, from: 1200)
        #expect(views.newest == .hidden && views.returns == 0)
        let sound = MediaPacket.aacFrame(timestamp: 5000, capacity: 4) { $0.writeInteger(UInt32(0)) }
        #expect(views.follow(sound) == small && views.follow(picture(999)) == small)
        #expect(views.follow(picture(1000)) == large && views.follow(nil) == large)
        #expect(views.follow(picture(1300)) == .hidden)
    }

    @Test("Who comes back from no tile is seen at once, and what was to come before that is forgotten")
    func comingBack() {
        var views = HostViews()
        views.change(to: small, from: nil)
        views.change(to: .hidden, from: 1000)
        views.change(to: large, from: 1100)
        #expect(views.returns == 1 && views.follow(picture(10)) == large && views.follow(picture(2000)) == large)
        views.change(to: large, from: 3000)
        #expect(views.returns == 1)
    }

    @Test("Changes without any picture do not pile up, and the last one counts")
    func many() {
        var views = HostViews()
        for step in 0..<100 { views.change(to: step % 2 == 0 ? small : large, from: Double(1000 + step)) }
        #expect(views.newest == large && views.follow(picture(1091)) == large && views.follow(picture(1092)) == small)
        #expect(views.follow(picture(5000)) == large)
    }

    @Test("A screen that stands still is what it was last as soon as it is seen again", .timeLimit(.minutes(1)))
    func stillScreen() throws {
        let clip = try HostClip.plain(.white, tone: nil, frameRate: 10)
        let anchor = ProgramAnchor(start: .now(), firstSample: 0)
        let input = HostInput(id: "s", anchor: anchor, jitterTarget: 60, mayStandStill: true)
        var number = input.show(as: .hidden, at: nil)
        #expect(number == nil)
        let thread = DecodeThread(input)
        defer { thread.stop() }
        for packet in clip.packets(from: 0, to: 600) { input.receive(packet, arrival: .now()) }
        wait {
            _ = input.advance(to: anchor.milliseconds(at: .now()), isHeard: false)
            return input.media.withLock { $0.pictureCount + $0.hiddenPictures } == 6
        }
        // Nothing comes any more that the thread could wake up for.
        number = input.show(as: .whole, at: anchor.milliseconds(at: .now()))
        #expect(number == 1)
        #expect(input.media.withLock { $0.pictures.last?.presentationTimestamp } == 0)
        wait { input.media.withLock { $0.returns } == 1 }
        input.media.withLock { $0.join() }
        #expect(input.media.withLock { $0.pictures.last?.presentationTimestamp } == 500)
    }

    /// Looks until it is so, for five seconds at most.
    private func wait(_ isSo: () -> Bool) {
        let deadline = MonotonicTime.now().advanced(milliseconds: 5000)
        while !isSo(), MonotonicTime.now() < deadline { MonotonicSleep.until(.now().advanced(milliseconds: 5)) }
        #expect(isSo())
    }
}
