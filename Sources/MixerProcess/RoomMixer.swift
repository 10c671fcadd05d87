import Codecs
import Egress
import Foundation
import FootlightModel
import Logging
import Media
import Mixer
import NIOCore
import NIOPosix
import RTMP
import Stage
import Synchronization

#if canImport(Glibc)
import Glibc
#endif

/// The mixer process of a room: reads the hosts' feeds, follows the room's events, and pushes the program.
///
/// It is a regular client of the gateway: RTMP in, RTMP out, server-sent events. It ends with its room, on SIGTERM, or
/// when the gateway that started it is gone.
package struct RoomMixer: Sendable {
    private let arguments: MixerArguments
    private let token: String
    private let recording: String?
    private let logger: Logger

    /// Seconds after the linger time within which the gateway ends its mixer.
    private static let lingerReserve = 10
    /// The delays between attempts to open the room's event stream again; the gateway runs on the same machine.
    private static let reconnectBackoff = Backoff(initial: 0.05, maximum: 5)
    /// The environment variable of a folder in which mixers record their input, for debugging.
    static let recordingVariable = "FOOTLIGHT_MIXER_RECORD_ARRIVALS"

    /// Prepares the mixer of a room; the token comes from the environment.
    ///
    /// - Parameter recording: The file for recorded input; nil takes the folder of the environment.
    /// - Throws: An error without a token.
    package init(_ arguments: MixerArguments, recording: String? = nil) throws {
        guard let token = MixerEnvironment.readToken() else { throw MissingToken() }
        self.arguments = arguments
        self.token = token
        let folder = ProcessInfo.processInfo.environment[Self.recordingVariable]
        self.recording = recording ?? folder.map { "\($0)/\(arguments.room)-\(arguments.epoch).arrivals" }
        var logger = Logger(label: "footlight.mixer")
        logger[metadataKey: "room"] = "\(arguments.room)"
        logger[metadataKey: "epoch"] = "\(arguments.epoch)"
        self.logger = logger
    }

    /// Runs until the room ends.
    package func run() async throws {
        CrashTrace.install()
        ParentWatchdog.watch()
        #if DEBUG
        MixerFaultInjection.arm(logger)
        #endif
        EgressLibraries.initialise()
        CodecLibraries.quiet()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let recorder = makeRecorder()
        defer { recorder?.close() }
        let markers = ProcessInfo.processInfo.environment[MixerEnvironment.markers].flatMap(DecodeMarkers.init)
        var mirror = RoomMirror()
        var session: MixerSession?
        var failures = 0
        let subscription = Mutex<RoomEventSubscription?>(nil)
        while !mirror.isEnded {
            let stream = RoomEventSubscription.open(events, group: group)
            subscription.withLock { $0 = stream }
            do {
                for try await change in stream.changes {
                    switch change {
                    case .event(let event):
                        failures = 0
                        mirror.apply(event)
                    case .previewDemand(let isWatched):
                        guard isWatched != mirror.isPreviewWatched else { continue }
                        mirror.isPreviewWatched = isWatched
                    }
                    let current =
                        try session
                        ?? MixerSession(
                            mirror.configuration,
                            recorder: recorder,
                            markers: markers,
                            push: push("program", to: arguments.room),
                            feedPush: feedPush,
                            renditions: { try push($0, to: "\(arguments.room)_\($0)") },
                            reporter: reporter(group),
                            assets: assets(group),
                            talkback: talkback(group),
                            onUnusableAsset: { [logger] asset, reason in
                                logger.warning(
                                    "unusable asset",
                                    metadata: ["asset": "\(asset)", "reason": "\(reason)"]
                                )
                            },
                            onStalledDecoder: { [logger] input in
                                logger.critical(
                                    "decoder stalled by a host's media; aborting the mixer",
                                    metadata: ["input": "\(input)"]
                                )
                                // The decode marker is set, so that the supervisor finds the host.
                                abort()
                            },
                            onPreviewDemand: { isWatched in
                                subscription.withLock { $0 }?.report(.previewDemand(isWatched))
                            },
                            feeds: feeds(group)
                        )
                    session = current
                    current.update(mirror)
                    if mirror.isEnded { break }
                }
            } catch RoomEventSubscription.End.refused(let status) where status == 404 || status == 401 || status == 403
            {
                logger.notice("room events are no longer accessible", metadata: ["status": "\(status)"])
                break
            } catch let error as RoomEventSubscription.End {
                failures += 1
                logger.warning("lost the room's event stream", metadata: ["error": "\(error)"])
                try await Task.sleep(for: .seconds(Self.reconnectBackoff.delay(retry: failures)))
            }
        }
        // Usually the gateway ends the mixer earlier.
        if mirror.isEnded, mirror.linger > 0 {
            try await Task.sleep(for: .seconds(mirror.linger + Self.lingerReserve))
        }
        session?.stop()
        try await group.shutdownGracefully()
    }

    /// Makes the recorder of the input; an error does not stop the program.
    private func makeRecorder() -> ArrivalRecorder? {
        guard let recording else { return nil }
        do {
            return try ArrivalRecorder(path: recording)
        } catch {
            logger.warning("mixer input is not recorded", metadata: ["error": "\(error)"])
            return nil
        }
    }

    private var events: GatewaySource {
        GatewaySource(
            host: arguments.host,
            port: arguments.httpPort,
            path: "/v1/rooms/\(arguments.room)/events",
            token: token
        )
    }

    private func reporter(_ group: any EventLoopGroup) -> MixerSession.Reporter {
        var source = events
        source.path = "/v1/rooms/\(arguments.room)/mixer/report"
        return { [source, logger] read in
            MixerReporter(source: source, group: group, logger: logger, read: read)
        }
    }

    private func talkback(_ group: any EventLoopGroup) -> MixerSession.Talkback {
        var source = events
        source.path = "/v1/rooms/\(arguments.room)/mixer/talkback"
        return { [source] deliver in TalkbackReader(source: source, group: group, deliver: deliver) }
    }

    private func assets(_ group: any EventLoopGroup) -> MixerSession.Assets {
        let source = events
        let (folder, web) = ("/v1/rooms/\(arguments.room)/assets/", "/v1/rooms/\(arguments.room)/mixer/asset")
        return { [source, logger] deliver in
            AssetReader(
                group: group,
                logger: logger,
                fetch: { asset, loop in
                    var file = source
                    if let name = asset.name {
                        file.path = folder + name
                        return file.asset(asset.kind, on: loop)
                    }
                    // The gateway fetches the URL, so that a mixer needs no other connections.
                    let url = asset.id.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                    file.path = "\(web)?kind=\(asset.kind.rawValue)&url=\(url)"
                    return file.asset(asset.kind, reserve: .seconds(2), on: loop)
                },
                deliver: deliver
            )
        }
    }

    private var feedPush: FeedPushes.Open {
        { feed in
            do {
                switch feed {
                case .hostReturn(let identity):
                    return try push("return", to: ReturnFeedName(room: arguments.room, identity: identity).text)
                case .preview:
                    return try push("preview", to: PreviewFeedName(room: arguments.room).text)
                }
            } catch {
                logger.warning("feed has no valid address", metadata: ["error": "\(error)"])
                return nil
            }
        }
    }

    private func push(_ name: String, to feed: String) throws -> RTMPPush {
        RTMPPush(
            name: name,
            address: try PushAddress(
                url: "rtmp://\(arguments.host):\(arguments.rtmpPort)/live",
                streamKey: "\(feed)?token=\(token)&epoch=\(arguments.epoch)"
            ),
            policy: TargetPolicy(allowsPrivateAddresses: true),
            configuration: .program
        ) { [logger] status in
            logger.info(
                "program push",
                metadata: ["feed": "\(feed)", "state": "\(status.state)", "error": "\(status.lastError ?? "none")"]
            )
        }
    }

    private func feeds(_ group: any EventLoopGroup) -> MixerSession.Feeds {
        { [arguments, token] input, hostInput in
            let name = HostFeedName(room: arguments.room, participantSID: input.participantSID, source: input.source)
            return HostReader(
                url: "rtmp://\(arguments.host):\(arguments.rtmpPort)/live/\(name.text)?token=\(token)",
                group: group,
                input: hostInput
            )
        }
    }
}

/// A mixer was not started by a gateway.
private struct MissingToken: Error, CustomStringConvertible {
    var description: String {
        "configuration: \(MixerEnvironment.token) is not set; the gateway starts mixers by itself"
    }
}

/// Ends a mixer when the gateway that started it is gone, which closes the socket on standard input.
enum ParentWatchdog {
    /// Exits this process as soon as the other end of the socket is closed.
    static func watch() {
        let thread = WorkerThread(name: "parent-watchdog") {
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                if count == 0 || (count < 0 && errno != EINTR) { exit(0) }
            }
        }
        if !thread.hasStarted { exit(EXIT_FAILURE) }
    }
}
