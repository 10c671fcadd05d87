public import Foundation
public import Observation
public import Stage

/// The model of the screen before a call: URL, name, devices.
@MainActor @Observable
public final class JoinModel {
    /// The call to join.
    public let call: any CallManageable
    /// The hosts of the gateways that may be joined.
    public let hosts: Set<String>

    /// The room's URL as entered; editing it clears the error.
    public var meetingURL = "" {
        didSet { if meetingURL != oldValue { isMeetingURLValid = true } }
    }
    /// The name as entered; empty for a guest.
    public var username = ""
    /// Whether the URL of the last attempt to join was valid.
    public private(set) var isMeetingURLValid = true

    /// Creates the model of a call.
    public init(call: any CallManageable, hosts: Set<String>) {
        self.call = call
        self.hosts = hosts
    }

    /// Whether a join is in progress or joined.
    public var isJoinButtonDisabled: Bool { [.joining, .joined].contains(call.callState) }

    /// The screen to be shown.
    public var screen: MeetingScreen { MeetingScreen(call.callState, count: call.participants.count) }

    /// The error that ended the last attempt.
    public var error: StageError? { call.error }

    /// Sets the name and joins; an invalid URL is marked instead.
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

/// The screen of a call.
public enum MeetingScreen: Sendable, Hashable {
    /// The screen before a call: name, devices and URL.
    case join
    /// In a call, alone.
    case waiting
    /// In a call, with others.
    case grid

    /// Chooses the screen for the call's state and the number of participants, including the local one.
    public init(_ state: CallState, count: Int) {
        switch state {
        case .joining, .joined: self = count > 1 ? .grid : .waiting
        case .initialized, .leaving, .left: self = .join
        }
    }
}

/// A room's URL as a user enters it.
public struct MeetingAddress: Sendable, Hashable {
    /// The complete URL, with its scheme.
    public let url: URL
    /// The room's name: the first component of the path.
    public var room: String { Self.room(url) ?? "" }

    /// Parses a URL; `https://` is added if the scheme is missing.
    ///
    /// - Parameter hosts: The hosts of the gateways that may be joined.
    /// - Returns: Nil unless the host is one of these and a room is named.
    public init?(_ text: String, hosts: Set<String>) {
        var text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if !text.contains("://") { text = "https://" + text }
        guard
            let url = URL(string: text), ["https", "http"].contains(url.scheme?.lowercased()),
            let host = url.host, hosts.contains(where: { $0.lowercased() == host.lowercased() }),
            Self.room(url) != nil
        else { return nil }
        self.url = url
    }

    /// Returns the room that a URL names; nil if it names none.
    static func room(_ url: URL) -> String? {
        url.path.split(separator: "/", omittingEmptySubsequences: true).first.map(String.init)
    }
}
