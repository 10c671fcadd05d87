import Foundation
public import Observation
public import Stage

/// The screen before a call: address, name, devices.
@MainActor @Observable
public final class JoinModel {
    /// The call to be joined.
    public let call: any CallManageable
    /// Gateways that may be called.
    public let hosts: Set<String>

    /// The room's address as typed; an edit takes back that it was wrong.
    public var meetingURL = "" {
        didSet { if meetingURL != oldValue { isMeetingURLValid = true } }
    }
    /// The name as typed; empty for a guest.
    public var username = ""
    /// False after a join with an address that is none.
    public private(set) var isMeetingURLValid = true

    /// Makes the screen of a call.
    public init(call: any CallManageable, hosts: Set<String>) {
        self.call = call
        self.hosts = hosts
    }

    /// True from the tap until the call has failed or is being left.
    public var isJoinButtonDisabled: Bool { [.joining, .joined].contains(call.callState) }

    /// The screen to be shown.
    public var screen: MeetingScreen { MeetingScreen(call.callState, count: call.participants.count) }

    /// What ended the last attempt.
    public var error: StageError? { call.error }

    /// Sends the name, and then joins; an address that is none is marked, and nothing else happens.
    public func join() {
        guard !isJoinButtonDisabled else { return }
        guard let address = MeetingAddress(meetingURL, hosts: hosts) else {
            isMeetingURLValid = false
            return
        }
        let name = username.trimmingCharacters(in: .whitespaces)
        call.setUsername(name.isEmpty ? nil : name)
        call.join(url: address.url)
    }
}
