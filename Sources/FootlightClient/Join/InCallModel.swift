public import Foundation
public import Observation
public import Stage

/// The screen of a call: its controls, its short messages, and the list of who is there.
@MainActor @Observable
public final class InCallModel {
    /// The call that is shown.
    public let call: any CallManageable
    /// 1 while the controls are seen, 0 while they are not.
    public private(set) var callControlsOpacity = 1.0

    private var toast = Toast()
    @ObservationIgnored private let clock: ClientClock
    @ObservationIgnored private var timer: Task<Void, Never>?

    /// Makes the screen of a call.
    public init(call: any CallManageable, clock: ClientClock = .system) {
        self.call = call
        self.clock = clock
    }

    deinit { timer?.cancel() }

    /// The screen to be shown.
    public var screen: MeetingScreen { MeetingScreen(call.callState, count: call.participants.count) }

    /// The short message; nil without one.
    public var toastMessage: String? { toast.message }

    /// Shows the controls, or hides them.
    public func backgroundTapped() {
        callControlsOpacity = callControlsOpacity == 1 ? 0 : 1
    }

    /// The room's address for others, told by a message of 3 s.
    ///
    /// - Returns: The address to put on the pasteboard; nil before there is one, and nothing is shown then.
    @discardableResult
    public func copyLink() -> URL? {
        guard let url = call.url else { return nil }
        showToast("Link copied")
        return url
    }

    /// Shows a message for 3 s, unless another one is seen.
    public func showToast(_ message: String) {
        guard toast.show(message, at: clock.now()) else { return }
        timer?.cancel()
        timer = Task { [weak self, clock] in
            do {
                try await clock.sleep(Toast.duration)
            } catch {
                // The screen is gone.
                return
            }
            self?.toast.timePassed(clock.now())
        }
    }

    /// Everybody in the call by name, whatever the case of its letters.
    public var participantDetails: [CallParticipant] {
        ([call.participants.local] + call.participants.remote.values).sorted { one, other in
            let names = (one.username.lowercased(), other.username.lowercased())
            return names.0 == names.1 ? one.id < other.id : names.0 < names.1
        }
    }

    /// Turns the camera on or off.
    public func toggleCamera() async {
        await call.toggleCamera(call.camera.isEnabled)
    }

    /// Turns the microphone on or off.
    public func toggleMicrophone() async {
        await call.toggleMicrophone(call.microphone.isEnabled)
    }

    /// Takes the other camera.
    public func flipCamera() async {
        await call.flipCamera()
    }

    /// Lets sound be heard by another of the call's outputs.
    public func choose(_ route: AudioRoute) async {
        await call.choose(route)
    }

    /// Leaves the call.
    public func leave() {
        call.leave()
    }
}
