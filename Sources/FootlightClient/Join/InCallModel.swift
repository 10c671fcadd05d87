public import Foundation
public import Observation

/// The model of a call's screen: its controls, its toasts, and the list of participants.
@MainActor @Observable
public final class InCallModel {
    /// The displayed call.
    public let call: any CallManageable
    /// The opacity of the controls: 1 while they are visible, otherwise 0.
    public private(set) var callControlsOpacity = 1.0

    private var toast = Toast()
    @ObservationIgnored private let clock: ClientClock
    @ObservationIgnored private var timer: Task<Void, Never>?

    /// Creates the model of a call.
    public init(call: any CallManageable, clock: ClientClock = .system) {
        self.call = call
        self.clock = clock
    }

    deinit { timer?.cancel() }

    /// The screen to be shown.
    public var screen: MeetingScreen { MeetingScreen(call.callState, count: call.participants.count) }

    /// The displayed toast; nil without one.
    public var toastMessage: String? { toast.message }

    /// Shows the controls, or hides them.
    public func backgroundTapped() {
        callControlsOpacity = callControlsOpacity == 1 ? 0 : 1
    }

    /// Returns the room's URL to share, and displays a toast for 3 s.
    ///
    /// - Returns: The URL for the pasteboard; nil before the first join, without a toast.
    @discardableResult
    public func copyLink() -> URL? {
        guard let url = call.url else { return nil }
        showToast("Link copied")
        return url
    }

    /// Displays a toast for 3 s, unless another one is displayed.
    public func showToast(_ message: String) {
        guard toast.show(message, at: clock.now()) else { return }
        timer?.cancel()
        timer = Task { [weak self, clock] in
            do {
                try await clock.sleep(Toast.duration)
            } catch {
                // The model was released.
                return
            }
            self?.toast.timePassed(clock.now())
        }
    }

    /// The participants of the call by name, ignoring case.
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

    /// Switches between the front and the back camera.
    public func flipCamera() async {
        await call.flipCamera()
    }

    /// Switches to another audio output.
    public func choose(_ route: AudioRoute) async {
        await call.choose(route)
    }

    /// Leaves the call.
    public func leave() {
        call.leave()
    }
}

/// A short message that disappears by itself; another one is ignored while it is displayed.
struct Toast: Sendable, Equatable {
    /// The time for which it is displayed.
    static let duration = Duration.seconds(3)

    private(set) var message: String?
    private var end = Duration.zero

    /// Displays a message.
    ///
    /// - Returns: Whether it is displayed.
    mutating func show(_ message: String, at now: Duration) -> Bool {
        guard self.message == nil || now >= end else { return false }
        self.message = message
        end = now + Self.duration
        return true
    }

    /// Removes an expired message.
    mutating func timePassed(_ now: Duration) {
        if now >= end { message = nil }
    }
}
