import FootlightTesting
import Foundation
import FootlightModel
import Glibc
import Synchronization
import TestSupport

/// An HTTP server with scripted responses.
final class ScriptedHTTPServer: Sendable {
    /// The response to a request.
    enum Answer: Sendable {
        /// The request is read and not answered.
        case silence
        /// A complete response; the connection is closed with it.
        case whole(status: Int, body: String)
        /// The beginning of an event stream, which stays open.
        case stream(String)
        /// A redirect.
        case redirect(status: Int, to: String)
    }

    /// The method and path of a request, such as `GET /v1/rooms`.
    typealias Script = @Sendable (_ request: String) -> Answer

    let port: Int
    private let listener: Int32
    private let connections = Mutex<[Int32]>([])
    private let seen = Mutex<[(line: String, text: String)]>([])
    private let isOver = Atomic<Bool>(false)

    init(_ script: @escaping Script) throws {
        port = try FreePort.pick()
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound, listen(listener, 32) == 0 else { throw ToolFailure("cannot listen on \(port)") }
        Thread.detachNewThread { [weak self, listener] in
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0, let self, !self.isOver.load(ordering: .acquiring) else { return }
                self.connections.withLock { $0.append(descriptor) }
                Thread.detachNewThread { [weak self] in self?.serve(descriptor, script) }
            }
        }
    }

    deinit { close() }

    /// The requests so far.
    var requests: [String] { seen.withLock { $0.map(\.line) } }

    /// The requests so far with header fields and bodies.
    var texts: [String] { seen.withLock { $0.map(\.text) } }

    /// Closes the server and all its connections.
    func close() {
        guard !isOver.exchange(true, ordering: .acquiringAndReleasing) else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        Glibc.close(listener)
        for descriptor in connections.withLock({ $0 }) {
            shutdown(descriptor, Int32(SHUT_RDWR))
            Glibc.close(descriptor)
        }
    }

    private func serve(_ descriptor: Int32, _ script: Script) {
        guard let text = Self.readRequest(descriptor) else { return }
        let line = text.split(separator: " ").prefix(2).joined(separator: " ")
        seen.withLock { $0.append((line, text)) }
        switch script(line) {
        case .silence: return
        case .whole(let status, let body):
            Self.write(
                "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
                    + "Connection: close\r\n\r\n\(body)",
                to: descriptor
            )
            shutdown(descriptor, Int32(SHUT_WR))
        case .redirect(let status, let location):
            Self.write(
                "HTTP/1.1 \(status) X\r\nLocation: \(location)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                to: descriptor
            )
            shutdown(descriptor, Int32(SHUT_WR))
        case .stream(let beginning):
            Self.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n\(beginning)", to: descriptor)
        }
    }

    /// Reads the head of a request and its body.
    private static func readRequest(_ descriptor: Int32) -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n") {
                let head = text[..<end.lowerBound]
                let length = head.split(separator: "\r\n")
                    .first { $0.lowercased().hasPrefix("content-length:") }
                    .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
                if text[end.upperBound...].utf8.count >= length ?? 0 {
                    return text
                }
            }
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

/// Encoded responses and events of a gateway, for scripted servers.
enum WireFixtures {
    /// The response to a join by `ann`.
    static func joinAnswer(mode: String = "SEND_AND_RECV") -> String {
        let ann = resource("ann", mode: mode)
        return text(
            JoinAnswer(
                participant: ann,
                sessionID: "S1",
                room: room,
                participants: [ann],
                tiles: [],
                ingest: nil,
                callSettings: CallSettingsResource(
                    audioOn: true,
                    videoOn: true,
                    speakerOn: true,
                    audioOutputOn: true,
                    cameraPosition: "front"
                ),
                connectOptions: nil,
                playback: playback,
                eventsURL: "",
                heartbeatInterval: 5,
                sessionTimeout: 30,
                fastReconnectDeadline: 15
            )
        )
    }

    /// An encoded participant.
    static func participant(
        _ identity: String,
        mode: String = "SEND_AND_RECV",
        status: String = "connected",
        revision: UInt64 = 1
    ) -> String {
        text(resource(identity, mode: mode, status: status, revision: revision))
    }

    /// An encoded server-sent event; `fields` begins with a comma unless it is empty.
    static func event(_ type: String, rev: Int, _ fields: String = "") -> String {
        "id: \(rev)\nevent: \(type)\n"
            + "data: {\"type\":\"\(type)\",\"room_sid\":\"RM1\",\"rev\":\(rev),\"ts\":\"\(time)\"\(fields)}\n\n"
    }

    /// A snapshot with the given participants.
    static func snapshot(rev: Int, _ participants: String...) -> String {
        event(
            "room.snapshot",
            rev: rev,
            ",\"room\":\(text(room)),\"participants\":[\(participants.joined(separator: ","))]"
        )
    }

    /// An encoded error.
    static func error(_ code: Int, name: String, retryable: Bool = false) -> String {
        """
        {"code":\(code),"name":"\(name)","message":"m","cause":"c","solution":"s","status":503,\
        "retryable":\(retryable),"retry_after":null,"more_info":"/docs/errors/\(code)"}
        """
    }

    private static let time = "2026-01-01T12:00:00.000Z"
    private static let moment = Timestamp(1_767_268_800)
    private static let playback = PlaybackResource(hlsURL: "", rtmpURL: "", flvURL: "")

    /// The room `show`.
    private static let room = RoomResource(
        sid: "RM1",
        uniqueName: "show",
        status: "in-progress",
        backstage: false,
        maxParticipants: 100,
        maxHosts: 12,
        emptyRoomTimeout: 300,
        unusedRoomTimeout: 300,
        counts: CountsResource(hosts: 1, audience: 0, anonymous: 0, signallingOnly: 0, participants: 1),
        dominantSpeakerSID: nil,
        layout: LayoutSettingsResource(type: "GRID", gridSize: 12, orientation: "landscape"),
        egress: EgressResource(
            broadcasting: false,
            livestream: LivestreamResource(state: "LIVESTREAM_STOPPED", startedAt: nil, outputs: []),
            hls: HLSResource(state: "HLS_STOPPED", startedAt: nil, playbackHLSURL: nil)
        ),
        program: ProgramResource(),
        playback: playback,
        revision: 1,
        dateCreated: moment,
        dateUpdated: moment,
        endTime: nil,
        links: [:]
    )

    private static func resource(
        _ identity: String,
        mode: String,
        status: String = "connected",
        revision: UInt64 = 1
    ) -> ParticipantResource {
        ParticipantResource(
            sid: "PA-\(identity)",
            identity: identity,
            displayName: identity,
            mode: WireEnum(rawValue: mode),
            status: WireEnum(rawValue: status),
            isMicOn: false,
            isCameraOn: false,
            isScreenSharing: false,
            position: nil,
            tracks: [],
            joinedAt: moment,
            revision: revision
        )
    }

    /// These values can always be encoded; otherwise parsing the text fails the test.
    private static func text(_ value: some Encodable) -> String {
        (try? WireJSON.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

extension EventResource {
    /// Decodes the data of an event.
    init(wire text: String) throws {
        let data = text.split(separator: "\n").last.map { $0.dropFirst("data: ".count) } ?? ""
        self = try WireJSON.decode(EventResource.self, from: Data(data.utf8))
    }
}
