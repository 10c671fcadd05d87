import FootlightClient
import FootlightTesting
import Foundation
import Stage
import Testing

@MainActor
@Suite("The screens around a simulated call")
struct JoinScreenTests {
    private let hosts: Set<String> = ["live.example"]

    private func url() throws -> URL { try #require(URL(string: "https://live.example/show")) }

    @Test(
        "D7 a URL gets its scheme; host and room must be valid",
        arguments: [
            ("live.example/show", "https://live.example/show"),
            ("https://live.example/show", "https://live.example/show"),
            (" http://LIVE.example/a/b ", "http://LIVE.example/a/b"), ("live.example", nil), ("live.example/", nil),
            ("evil.example/show", nil), ("", nil), ("ftp://live.example/show", nil), ("live.example.evil/show", nil),
        ] as [(String, String?)]
    )
    func address(text: String, expected: String?) {
        #expect(MeetingAddress(text, hosts: hosts)?.url.absoluteString == expected)
    }

    @Test("D7 an invalid URL is marked without joining, and the next edit clears the mark")
    func wrongAddress() {
        let fake = FakeCallManager()
        let model = JoinModel(call: fake, hosts: hosts)
        model.meetingURL = "nowhere"
        model.join()
        #expect(!model.isMeetingURLValid && fake.log.isEmpty && fake.callState == .initialized)
        model.meetingURL = "live.example/sho"
        #expect(model.isMeetingURLValid)
    }

    @Test("D8 the name is set before the join; without one it is a guest")
    func username() {
        let fake = FakeCallManager()
        let model = JoinModel(call: fake, hosts: hosts)
        model.meetingURL = "live.example/show"
        model.username = "Ann"
        model.join()
        #expect(fake.log == ["username Ann", "join https://live.example/show"])
        #expect(fake.participants.local.username == "Ann")
        let other = FakeCallManager()
        let nameless = JoinModel(call: other, hosts: hosts)
        nameless.meetingURL = "live.example/show"
        nameless.join()
        #expect(other.participants.local.username == "Guest")
    }

    @Test(
        "D6 the button is disabled only while joining and joined",
        arguments: [
            (.initialized, false), (.joining, true), (.joined, true), (.leaving, false), (.left, false),
        ] as [(CallState, Bool)]
    )
    func button(state: CallState, isDisabled: Bool) {
        #expect(JoinModel(call: FakeCallManager(callState: state), hosts: hosts).isJoinButtonDisabled == isDisabled)
    }

    @Test(
        "D9 joining and joined show the call: waiting alone, a grid with others",
        arguments: CallState.allCases
    )
    func screen(state: CallState) {
        let isIn = state == .joining || state == .joined
        #expect(MeetingScreen(state, count: 1) == (isIn ? .waiting : .join))
        #expect(MeetingScreen(state, count: 2) == (isIn ? .grid : .join))
        let fake = FakeCallManager(callState: state, visible: [CallParticipant(id: "b")])
        #expect(InCallModel(call: fake).screen == (isIn ? .grid : .join))
    }

    @Test("D10 a tap on the background only shows or hides the controls")
    func background() {
        let fake = FakeCallManager(callState: .joined)
        let model = InCallModel(call: fake)
        #expect(model.callControlsOpacity == 1)
        model.backgroundTapped()
        #expect(model.callControlsOpacity == 0)
        model.backgroundTapped()
        #expect(model.callControlsOpacity == 1 && fake.log.isEmpty && model.toastMessage == nil)
    }

    @Test("D11 the link is copied once there is one; its toast stays 3 s, and another is ignored meanwhile")
    func link() async throws {
        let clock = ManualClientClock()
        #expect(InCallModel(call: FakeCallManager(), clock: clock.clock).copyLink() == nil)
        let address = try url()
        let model = InCallModel(call: FakeCallManager(url: address), clock: clock.clock)
        #expect(model.copyLink() == address && model.toastMessage == "Link copied")
        model.showToast("other")
        #expect(model.toastMessage == "Link copied")
        let began = clock.now
        let isGone = try await soon {
            clock.advance(.milliseconds(100))
            return model.toastMessage == nil
        }
        #expect(isGone && clock.now - began >= .seconds(3))
        model.showToast("other")
        #expect(model.toastMessage == "other")
    }

    @Test("D12 unmuted means on and authorized")
    func muteState() {
        let states = [(true, true), (true, false), (false, true), (false, false)].map {
            CallDevice(isEnabled: $0.0, isAuthorized: $0.1).muteState
        }
        #expect(states == [.unmuted, .muted, .muted, .muted])
    }

    @Test("D13 every action changes the display; the list is sorted by name, ignoring case")
    func actions() async throws {
        let fake = FakeCallManager(
            local: CallParticipant(id: "l", username: "mia"),
            visible: [CallParticipant(id: "1", username: "Zoe"), CallParticipant(id: "2", username: "adam")]
        )
        let model = InCallModel(call: fake)
        fake.join(url: try url())
        #expect(fake.callState == .joined)
        await model.toggleCamera()
        await model.toggleMicrophone()
        await model.flipCamera()
        let headset = AudioRoute(id: "h", name: "Headset", kind: .wireless)
        await model.choose(headset)
        #expect(fake.audioRoute == .speaker, "it is not there")
        fake.audioRoutes.append(headset)
        await model.choose(headset)
        #expect(!fake.camera.isEnabled && fake.microphone.isEnabled && !fake.camera.isFacingUser)
        #expect(fake.audioRoute == headset)
        #expect(model.participantDetails.map(\.username) == ["adam", "mia", "Zoe"])
        model.leave()
        #expect(fake.callState == .left)
    }

    @Test("D14 each stream begins with the current value")
    func streams() async throws {
        let address = try url()
        let fake = FakeCallManager(url: address, visible: [CallParticipant(id: "b")])
        var states = fake.callStates.makeAsyncIterator()
        var urls = fake.urls.makeAsyncIterator()
        var cameras = fake.cameras.makeAsyncIterator()
        var microphones = fake.microphones.makeAsyncIterator()
        var views = fake.participantViews.makeAsyncIterator()
        #expect(await states.next() == .initialized)
        #expect(await urls.next() == .some(address))
        #expect(await cameras.next()?.isEnabled == true)
        #expect(await microphones.next()?.isEnabled == false)
        #expect(await views.next()?.count == 2)
        fake.join(url: try url())
        #expect(await states.next() == .joined)
        #expect(await fake.isAuthorized(for: .camera))
    }

    @Test("D15 simulated calls need no gateway and are independent of each other")
    func fakes() throws {
        let fakes = (0..<10).map { _ in FakeCallManager() }
        fakes[3].join(url: try url())
        #expect(fakes.map(\.callState).filter { $0 == .joined }.count == 1)
        fakes[3].leave()
        #expect(fakes[3].callState == .left && fakes[4].callState == .initialized)
    }
}
