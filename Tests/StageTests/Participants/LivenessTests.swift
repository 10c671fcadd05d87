import Testing

@testable import Stage

@Suite("Liveness")
struct LivenessTests {
    private typealias State = Liveness.State

    private func state(_ liveness: Liveness, at now: Double, host: Bool = false) -> State {
        liveness.state(at: now, isHost: host)
    }

    @Test("Q13 a viewer without signalling is removed after 15 s, a host is not")
    func withoutHeartbeat() {
        let liveness = Liveness(at: 0)
        #expect(state(liveness, at: 14.9) == .connecting)
        #expect(state(liveness, at: 15) == .gone(.sessionTimeout))
        #expect(state(liveness, at: 1e6, host: true) == .connecting)
    }

    @Test("T12 heartbeats that stop: lost after 15 s, given up after 30 s more")
    func heartbeats() {
        var liveness = Liveness(at: 0)
        liveness.heartbeatReceived(at: 5)
        for host in [true, false] {
            #expect(state(liveness, at: 19.9, host: host) == .connected)
            #expect(state(liveness, at: 20, host: host) == .reconnecting(.signallingLost))
            #expect(state(liveness, at: 49.9, host: host) == .reconnecting(.signallingLost))
            #expect(state(liveness, at: 50, host: host) == .gone(.sessionTimeout))
        }
        liveness.heartbeatReceived(at: 49)
        #expect(state(liveness, at: 49) == .connected)
        #expect(state(liveness, at: 64) == .reconnecting(.signallingLost))
    }

    @Test("an open event stream counts once, at its opening")
    func streamAlone() {
        var liveness = Liveness(at: 0)
        liveness.streamOpened(at: 2)
        #expect(state(liveness, at: 16.9) == .connected)
        #expect(state(liveness, at: 17) == .reconnecting(.signallingLost))
    }

    @Test("A stream that closes is a loss five seconds after, or 15 s after the last sign of life if that is earlier")
    func streamCloses() {
        var bare = Liveness(at: 0)
        bare.streamOpened(at: 1)
        bare.streamClosed(at: 3)
        #expect(state(bare, at: 7.9) == .connected)
        #expect(state(bare, at: 8) == .reconnecting(.signallingLost))
        #expect(state(bare, at: 37.9) == .reconnecting(.signallingLost))
        #expect(state(bare, at: 38) == .gone(.sessionTimeout))
        bare.streamOpened(at: 20)
        #expect(state(bare, at: 20) == .connected)

        var beating = Liveness(at: 0)
        beating.streamOpened(at: 1)
        beating.heartbeatReceived(at: 5)
        beating.streamClosed(at: 6)
        #expect(state(beating, at: 10.9) == .connected)
        #expect(state(beating, at: 11) == .reconnecting(.signallingLost))
        beating.heartbeatReceived(at: 10)
        #expect(state(beating, at: 24.9) == .connected)
        #expect(state(beating, at: 25) == .reconnecting(.signallingLost))

        var stale = Liveness(at: 0)
        stale.streamOpened(at: 0)
        stale.heartbeatReceived(at: 1)
        stale.streamClosed(at: 14)
        #expect(state(stale, at: 15.9) == .connected)
        #expect(state(stale, at: 16) == .reconnecting(.signallingLost))
    }

    @Test("Of two open streams the first to close is no loss")
    func twoStreams() {
        var liveness = Liveness(at: 0)
        liveness.streamOpened(at: 1)
        liveness.streamOpened(at: 2)
        liveness.streamClosed(at: 3)
        #expect(state(liveness, at: 8) == .connected)
        liveness.streamClosed(at: 8)
        #expect(state(liveness, at: 12.9) == .connected)
        #expect(state(liveness, at: 13) == .reconnecting(.signallingLost))
    }

    @Test("flowing media counts as signalling until its end")
    func mediaIsLife() {
        var liveness = Liveness(at: 0)
        liveness.streamOpened(at: 1)
        liveness.mediaStarted()
        liveness.streamClosed(at: 2)
        #expect(state(liveness, at: 500, host: true) == .connected)
        liveness.mediaStopped(isMissed: false, since: 500, at: 500)
        #expect(state(liveness, at: 514.9, host: true) == .connected)
        #expect(state(liveness, at: 515, host: true) == .reconnecting(.signallingLost))
    }

    @Test("53405 a host that announced tracks and sends nothing is given up after 15 s")
    func mediaNeverCame() {
        var liveness = Liveness(at: 0)
        liveness.heartbeatReceived(at: 1)
        liveness.mediaIsExpected(true, at: 2)
        liveness.heartbeatReceived(at: 14)
        #expect(state(liveness, at: 16.9, host: true) == .connected)
        #expect(state(liveness, at: 17, host: true) == .gone(.mediaTimeout))
        var withdrawn = liveness
        withdrawn.mediaIsExpected(false, at: 16)
        #expect(state(withdrawn, at: 20, host: true) == .connected)
        liveness.mediaStarted()
        #expect(state(liveness, at: 20, host: true) == .connected)
    }

    @Test("53405 media that stops is lost at once and given up 30 s after it was last there")
    func mediaStops() {
        var liveness = Liveness(at: 0)
        liveness.heartbeatReceived(at: 1)
        liveness.mediaStarted()
        liveness.mediaStopped(isMissed: true, since: 97, at: 100)
        for now in stride(from: 100.0, to: 127, by: 5) {
            liveness.heartbeatReceived(at: now)
            #expect(state(liveness, at: now, host: true) == .reconnecting(.mediaLost))
        }
        #expect(state(liveness, at: 127, host: true) == .gone(.mediaTimeout))
        liveness.mediaStarted()
        #expect(state(liveness, at: 127, host: true) == .connected)
    }

    @Test("a host with an encoder alone has no timeout")
    func encoderOnly() {
        var liveness = Liveness(at: 0)
        liveness.mediaIsExpected(true, at: 0)
        #expect(state(liveness, at: 1e6, host: true) == .connecting)
        liveness.mediaStarted()
        #expect(state(liveness, at: 1e6, host: true) == .connected)
        liveness.mediaStopped(isMissed: true, since: 1e6, at: 1e6)
        #expect(state(liveness, at: 2e6, host: true) == .reconnecting(.mediaLost))
    }

    @Test("after a restart participants are lost and have 30 s; an encoder has no limit")
    func restored() {
        var liveness = Liveness(at: 100)
        liveness.restored(at: 100, hadSession: true, isHost: false)
        #expect(state(liveness, at: 100) == .reconnecting(.signallingLost))
        #expect(state(liveness, at: 130) == .gone(.sessionTimeout))
        var back = liveness
        back.streamOpened(at: 129)
        back.streamClosed(at: 129)
        #expect(state(back, at: 130) == .connected)
        liveness.heartbeatReceived(at: 129)
        #expect(state(liveness, at: 130) == .connected)
        var encoder = Liveness(at: 100)
        encoder.restored(at: 100, hadSession: false, isHost: true)
        #expect(state(encoder, at: 1e6, host: true) == .reconnecting(.mediaLost))
    }
}
