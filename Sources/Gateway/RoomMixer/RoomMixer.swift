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

#if canImport(Glibc)
import Glibc
#endif

/// The mixer process of a room: reads the hosts' feeds, follows the room's events, and pushes the program.
///
/// It is a regular client of the gateway: RTMP in, RTMP out, server-sent events. It ends with its room, on SIGTERM, or
/// when the gateway that started it is gone.
public struct RoomMixer: Sendable {
    private let room: String
    private let host: String
    private let rtmpPort: Int
    private let httpPort: Int
    private let epoch: UInt64
    private let token: String
    private let recording: String?
    private let logger: Logger

    /// The environment variable of the token, which must not appear in the process list.
    static let tokenVariable = "FOOTLIGHT_MIXER_TOKEN"
    /// The environment variable of the file for the decode markers.
    static let markersVariable = "FOOTLIGHT_MIXER_MARKS"
    /// Seconds after the linger time within which the gateway ends its mixer.
    private static let lingerReserve = 10
    /// The delays between attempts to open the room's event stream again; the gateway runs on the same machine.
    private static let reconnectBackoff = Backoff(initial: 0.05, maximum: 5)
    /// The environment variable of a folder in which mixers record their input, for debugging.
    static let recordingVariable = "FOOTLIGHT_MIXER_RECORD_ARRIVALS"

    /// Prepares the mixer of a room; the token comes from the environment.
    ///
    /// - Parameters:
    ///   - recording: The file for recorded input; nil takes the folder of the environment.
    /// - Throws: `ConfigurationError` without a token.
    public init(
        room: String,
        host: String,
        rtmpPort: Int,
        httpPort: Int,
        epoch: UInt64,
        recording: String? = nil
    ) throws {
        guard let token = ProcessInfo.processInfo.environment[Self.tokenVariable] else {
            throw ConfigurationError(
                key: Self.tokenVariable,
                problem: "is not set; the gateway starts mixers by itself"
            )
        }
        self.room = room
        self.host = host
        self.rtmpPort = rtmpPort
        self.httpPort = httpPort
        self.epoch = epoch
        self.token = token
        let folder = ProcessInfo.processInfo.environment[Self.recordingVariable]
        self.recording = recording ?? folder.map { "\($0)/\(room)-\(epoch).arrivals" }
        var logger = Logger(label: "footlight.mixer")
        logger[metadataKey: "room"] = "\(room)"
        logger[metadataKey: "epoch"] = "\(epoch)"
        self.logger = logger
    }

    /// Runs until the room ends.
    public func run() async throws {
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
        let markers = ProcessInfo.processInfo.environment[Self.markersVariable].flatMap(DecodeMarkers.init)
        var mirror = RoomMirror()
        var session: MixerSession?
        var failures = 0
        while !mirror.isEnded {
            let stream = RoomEventSubscription.open(events, group: group)
            do {
                for try await event in stream.events {
                    failures = 0
                    mirror.apply(event)
                    let current =
                        try session
                        ?? MixerSession(
                            mirror.configuration,
                            recorder: recorder,
                            markers: markers,
                            push: push("program", to: room),
                            returns: returns,
                            renditions: { try push($0, to: "\(room)_\($0)") },
                            reporter: reporter(group),
                            assets: assets(group),
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

    private var events: RoomEventSubscription.Source {
        RoomEventSubscription.Source(host: host, port: httpPort, path: "/v1/rooms/\(room)/events", token: token)
    }

    private func reporter(_ group: any EventLoopGroup) -> MixerSession.Reporter {
        var source = events
        source.path = "/v1/rooms/\(room)/mixer/report"
        return { [source, logger] read in
            MixerReporter(source: source, group: group, logger: logger, read: read)
        }
    }

    private func assets(_ group: any EventLoopGroup) -> MixerSession.Assets {
        let source = events
        let (folder, web) = ("/v1/rooms/\(room)/assets/", "/v1/rooms/\(room)/mixer/asset")
        let fetch = AssetFetcher()
        return { [source, logger] deliver in
            AssetReader(
                group: group,
                logger: logger,
                fetch: { asset, loop in
                    var file = source
                    if let name = asset.name {
                        file.path = folder + name
                        return fetch.fetch(uploaded: file, asset.kind, on: loop)
                    }
                    // The gateway fetches the URL, so that a mixer needs no other connections.
                    let url = asset.id.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                    file.path = "\(web)?kind=\(asset.kind.rawValue)&url=\(url)"
                    return fetch.fetch(uploaded: file, asset.kind, reserve: .seconds(2), on: loop)
                },
                deliver: deliver
            )
        }
    }

    private var returns: ReturnPushes.Open {
        { identity in
            do {
                return try push("return", to: ReturnFeedName(room: room, identity: identity).text)
            } catch {
                logger.warning("return feed has no valid address", metadata: ["error": "\(error)"])
                return nil
            }
        }
    }

    private func push(_ name: String, to feed: String) throws -> RTMPPush {
        RTMPPush(
            name: name,
            address: try PushAddress(
                url: "rtmp://\(host):\(rtmpPort)/live",
                streamKey: "\(feed)?token=\(token)&epoch=\(epoch)"
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
        { [room, host, rtmpPort, token] input, hostInput in
            let name = HostFeedName(room: room, participantSID: input.participantSID, source: input.source).text
            return HostReader(
                url: "rtmp://\(host):\(rtmpPort)/live/\(name)?token=\(token)",
                group: group,
                input: hostInput
            )
        }
    }
}

/// Ends a mixer when the gateway that started it is gone, which closes the socket on standard input.
enum ParentWatchdog {
    /// Exits this process as soon as the other end of the socket is closed.
    static func watch() {
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                if count == 0 || (count < 0 && errno != EINTR) { exit(0) }
            }
        }
    }
}
