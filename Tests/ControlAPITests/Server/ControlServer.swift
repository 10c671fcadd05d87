import Admission
import Assets
import ControlAPI
import Foundation
import FootlightModel
import HTTPTypes
import Hummingbird
import Logging
import Media
import NIOCore
import NIOPosix
import Persistence
import Shows
import Stage
import Synchronization
import TestSupport
import Viewership
import Webhooks

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The routes on an HTTP server at a free loopback port, with a real stage and real tokens.
final class ControlServer: Sendable {
    private static let silent = Logger(label: "webhooks") { _ in SwiftLogNoOpLogHandler() }
    static let signingKey = [UInt8](repeating: 7, count: 32)

    let directory: RoomDirectory
    let tokens: AccessTokens
    let livestreams = RecordingLivestreams()
    let hls = RecordingHLS()
    let log = LogCapture()
    let viewership = StubViewership()
    let history = StubHistory()
    /// Admits to the rooms of the directory, as the gateway does.
    let gate: AudienceGate
    /// The shows of the directory, stored on disk.
    let shows: ShowDirectory
    /// What shows started.
    let startedRooms: StartedRooms
    let logs = RecordingLogs()
    /// Queues deliveries but may not connect anywhere.
    let webhooks: WebhookDispatcher
    /// Reports the same state each time.
    let system = StubSystem()
    /// Lists the tokens that operators make.
    let tokenStore: TokenStore
    private let folder: TemporaryFolder
    /// The header field that names the login of a request.
    static let login = HTTPField.Name("X-Login") ?? .cookie
    /// The logins that have ended.
    let endedLogins = Mutex<Set<String>>([])
    let readiness = Mutex(Readiness())
    private let port = Mutex(0)
    private let adminPort = Mutex(0)
    private let session = URLSession(configuration: .ephemeral)
    private let operatorToken: String
    private let allowedOrigins: Set<String>
    private let streamsPerClient: Int?
    private let recordings: (any RecordingControlling)?
    private let cluster: (any ClusterControlling)?
    /// The sids of persisted rooms, in order.
    let persisted = Mutex<[String]>([])
    /// The error with which persisting fails.
    let persistFault = Mutex<(any Error)?>(nil)
    /// The error with which new work is refused.
    let refusal = Mutex<StageError?>(nil)

    /// The assets fetched for mixers, by last path component, and whether they were treated as an operator's.
    let fetched = Mutex<[String: Bool]>([:])

    private init(
        settings: StageSettings,
        clock: any MonotonicClock,
        allowedOrigins: Set<String>,
        streamsPerClient: Int?,
        recordings: (any RecordingControlling)?,
        cluster: (any ClusterControlling)?
    ) async throws {
        self.cluster = cluster
        self.allowedOrigins = allowedOrigins
        self.streamsPerClient = streamsPerClient
        self.recordings = recordings
        folder = try TemporaryFolder("control")
        webhooks = WebhookDispatcher(
            WebhookConfiguration(maximumEndpoints: 3),
            store: OutboxStore(path: folder.file("webhooks.sqlite"), logger: Self.silent),
            vet: { _, _, _ in .forbidden },
            group: MultiThreadedEventLoopGroup.singleton,
            logger: Self.silent
        )
        tokenStore = TokenStore(path: folder.file("tokens.sqlite"), logger: Self.silent)
        directory = RoomDirectory(settings: settings, clock: clock, pepper: [1, 2, 3]) { [viewership] room in
            viewership.report(room: room)
        }
        gate = AudienceGate(
            audience: ViewershipLedger(
                keys: SessionKeys(current: SessionKey(version: 1, secret: Self.signingKey)),
                clock: clock
            ),
            keys: AdmissionKeys(secret: Self.signingKey),
            store: TicketStore(path: folder.file("tickets.sqlite"), logger: Self.silent)
        )
        let box = StartedRooms()
        startedRooms = box
        shows = ShowDirectory(
            stage: directory,
            store: ShowStore(path: folder.file("shows.sqlite"), secret: Self.signingKey, logger: Self.silent),
            effects: ShowDirectory.Effects(
                startOutputs: { (room, plan) throws(StageError) in
                    box.names.withLock { $0 += plan.targets.map { "\(room) \($0.streamKey)" } }
                },
                startRecording: { (room) throws(StageError) in box.names.withLock { $0.append(room.settings.name) } },
                log: { _, _ in }
            )
        )
        tokens = await AccessTokens(signingKey: Self.signingKey, kid: "k1")
        operatorToken = try await tokens.issueOperator(expiresIn: 600)
    }

    /// Runs `body` with a server that is stopped afterwards.
    static func run(
        settings: StageSettings = .init(),
        clock: any MonotonicClock = SystemClock(),
        allowedOrigins: Set<String> = [],
        streamsPerClient: Int? = nil,
        recordings: (any RecordingControlling)? = nil,
        cluster: (any ClusterControlling)? = nil,
        _ body: @escaping @Sendable (ControlServer) async throws -> Void
    ) async throws {
        let server = try await ControlServer(
            settings: settings,
            clock: clock,
            allowedOrigins: allowedOrigins,
            streamsPerClient: streamsPerClient,
            recordings: recordings,
            cluster: cluster
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            let (ports, found) = AsyncStream.makeStream(of: Void.self)
            for isAdmin in [false, true] {
                group.addTask {
                    try await server.application(isAdmin: isAdmin) { found.yield() }.run()
                }
            }
            var iterator = ports.makeAsyncIterator()
            await iterator.next()
            await iterator.next()
            try await body(server)
            group.cancelAll()
        }
    }

    func routes() -> ControlRoutes {
        var services = ControlServices(
            directory: directory,
            tokens: tokens,
            livestreams: livestreams,
            viewership: viewership,
            gate: gate,
            shows: shows,
            assets: AssetStore(path: folder.file("assets")),
            addresses: { [self] in
                PlaybackAddresses(host: "127.0.0.1", httpPort: port.withLock { $0 }, rtmpPort: 1935)
            },
            readiness: { [self] in readiness.withLock { $0 } },
            metrics: { "footlight_rooms 1\n" }
        )
        services.hls = hls
        services.recordings = recordings
        services.history = history
        services.logs = logs
        services.client = { _ in 1 }
        services.logout = { [self] fields in logoutCheck(fields) }
        services.clientStreams = ClientLimiter(limit: streamsPerClient)
        services.fetch = { [self] (url, _, _, isOperators) throws(StageError) in
            fetched.withLock { $0[String(url.split(separator: "/").last ?? "")] = isOperators }
            return ByteBuffer(string: url)
        }
        services.webhooks = webhooks
        services.issuedTokens = tokenStore
        services.system = system
        services.cluster = cluster
        services.openMetrics = { "footlight_rooms 1\n# EOF\n" }
        services.allowedOrigins = allowedOrigins
        services.admission = { [self] in refusal.withLock { $0 } }
        services.persist = { [self] sid in
            if let fault = persistFault.withLock({ $0 }) { throw fault }
            persisted.withLock { $0.append(sid) }
        }
        services.auditLogger = log.logger
        return ControlRoutes(services)
    }

    private func logoutCheck(_ fields: HTTPFields) -> (@Sendable () -> Bool)? {
        guard let login = fields[Self.login] else { return nil }
        return { [self] in endedLogins.withLock { $0.contains(login) } }
    }

    private func application(isAdmin: Bool, onBound: @escaping @Sendable () -> Void) -> some ApplicationProtocol {
        let routes = routes()
        var logger = Logger(label: "control")
        logger.logLevel = .critical
        return Application(
            router: isAdmin ? routes.adminRouter() : routes.router(),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { [self] channel in
                let bound = channel.localAddress?.port ?? 0
                if isAdmin {
                    adminPort.withLock { $0 = bound }
                } else {
                    port.withLock { $0 = bound }
                }
                onBound()
            },
            logger: logger
        )
    }

    var boundPort: Int { port.withLock { $0 } }

    // MARK: Requests

    enum Bearer {
        case `operator`
        case token(String)
        /// Basic authentication.
        case password(String)
        case unauthenticated
    }

    struct Answer {
        let status: Int
        let data: Data
        let headers: [String: String]

        var text: String { String(decoding: data, as: UTF8.self) }

        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            try WireJSON.decode(type, from: data)
        }

        var error: ErrorResource? { try? decode(ErrorAnswer.self).error }

        /// The HTTP status and the error code, such as `404/53106`.
        var refusal: String { "\(status)/\(error.map { String($0.code) } ?? "-")" }
    }

    func ask(
        _ method: String,
        _ path: String,
        _ body: String? = nil,
        as bearer: Bearer = .operator,
        headers: [String: String] = [:],
        admin: Bool = false
    ) async throws -> Answer {
        try await answer(to: request(method, path, body, as: bearer, headers: headers, admin: admin))
    }

    /// Uploads bytes with a given content type.
    func upload(_ path: String, _ bytes: [UInt8], type: String, as bearer: Bearer = .operator) async throws -> Answer {
        var request = try request("PUT", path, nil, as: bearer, headers: ["Content-Type": type], admin: false)
        request.httpBody = Data(bytes)
        return try await answer(to: request)
    }

    private func answer(to request: URLRequest) async throws -> Answer {
        let (data, response) = try await session.data(for: request)
        let http = response as? HTTPURLResponse
        var fields: [String: String] = [:]
        for (name, value) in http?.allHeaderFields ?? [:] {
            fields["\(name)".lowercased()] = "\(value)"
        }
        return Answer(status: http?.statusCode ?? 0, data: data, headers: fields)
    }

    private func request(
        _ method: String,
        _ path: String,
        _ body: String?,
        as bearer: Bearer,
        headers: [String: String],
        admin: Bool
    ) throws -> URLRequest {
        let port = admin ? adminPort.withLock { $0 } : port.withLock { $0 }
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        request.timeoutInterval = 10
        switch bearer {
        case .operator: request.setValue("Bearer \(operatorToken)", forHTTPHeaderField: "Authorization")
        case .token(let token): request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        case .password(let token):
            let pair = Data("log:\(token)".utf8).base64EncodedString()
            request.setValue("Basic \(pair)", forHTTPHeaderField: "Authorization")
        case .unauthenticated: break
        }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    /// Opens an event stream.
    func events(
        _ path: String,
        as bearer: Bearer = .operator,
        headers: [String: String] = [:]
    ) throws -> EventClient {
        EventClient(try request("GET", path, nil, as: bearer, headers: headers, admin: false))
    }

    @discardableResult
    func makeRoom(_ name: String = "show", _ more: String = "") async throws -> RoomResource {
        try await ask("POST", "/v1/rooms", #"{"unique_name":"\#(name)"\#(more)}"#).decode(RoomResource.self)
    }

    /// Reports to the directory that a host's encoder publishes audio and video.
    func encode(_ joined: JoinAnswer) throws {
        guard let key = joined.ingest?.rtmp.streamKey else { return }
        let grant = try directory.authorizePublish(streamKey: key).get()
        directory.publishBegan(grant, connection: 1)
        directory.publishChanged(grant, connection: 1, media: PublishedMedia(hasVideo: true, hasAudio: true))
    }

    func join(
        _ room: String,
        _ identity: String,
        _ mode: String = "SEND_AND_RECV",
        as bearer: Bearer = .operator
    ) async throws -> Answer {
        try await ask(
            "POST",
            "/v1/rooms/\(room)/participants",
            #"{"identity":"\#(identity)","mode":"\#(mode)"}"#,
            as: bearer
        )
    }
}

/// The rooms whose recording shows started, and those whose outputs, with their stream keys.
final class StartedRooms: Sendable {
    let names = Mutex<[String]>([])
}
