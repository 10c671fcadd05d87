import Codecs
import Egress
import Foundation
import GatewayModel
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

/// The mixer process of one room: reads every host's feed, follows the room's events, and pushes the program back.
///
/// It speaks to the gateway as any other client would: RTMP in, RTMP out, server-sent events. It ends when its room
/// ends, when it is asked to, or when the gateway that started it is gone.
public struct RoomMixer: Sendable {
    private let room: String
    private let host: String
    private let rtmpPort: Int
    private let httpPort: Int
    private let epoch: UInt64
    private let token: String
    private let recording: String?
    private let logger: Logger

    /// The environment variable that carries the token, which must not show in the process list.
    static let tokenVariable = "FOOTLIGHT_MIXER_TOKEN"
    /// Names the file in which the mixer marks whose media it is decoding.
    static let marksVariable = "FOOTLIGHT_MIXER_MARKS"
    /// Seconds beyond a room's linger time within which the gateway ends its mixer.
    private static let lingerReserve = 10
    /// Names a folder in which every mixer takes down what arrives at it; for finding faults.
    static let recordingVariable = "FOOTLIGHT_MIXER_RECORD_ARRIVALS"

    /// Prepares the mixer of `room`; the token comes from the environment.
    ///
    /// - Parameters:
    ///   - recording: The file in which to take down what arrives; nil leaves it to the environment.
    /// - Throws: `ConfigurationError` when there is no token.
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

    /// Mixes until the room ends.
    public func run() async throws {
        CrashTrace.install()
        Lifeline.watch()
        #if DEBUG
        MixerMisbehaviour.arm(logger)
        #endif
        EgressLibraries.initialise()
        CodecLibraries.quiet()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let recorder = makeRecorder()
        defer { recorder?.close() }
        let marks = ProcessInfo.processInfo.environment[Self.marksVariable].flatMap(WorkMarks.init)
        var followed = FollowedRoom()
        var show: MixedShow?
        var failures = 0
        while !followed.isEnded {
            let stream = RoomEvents.open(events, group: group)
            do {
                for try await event in stream.events {
                    failures = 0
                    followed.apply(event)
                    let current =
                        try show
                        ?? MixedShow(
                            followed.configuration,
                            recorder: recorder,
                            marks: marks,
                            push: push("program", to: room),
                            returns: returns,
                            renditions: { try push($0, to: "\(room)_\($0)") },
                            reporter: reporter(group),
                            assets: assets(group),
                            onUselessAsset: { [logger] asset, reason in
                                logger.warning(
                                    "an asset is of no use",
                                    metadata: ["asset": "\(asset)", "reason": "\(reason)"]
                                )
                            },
                            onStuckDecoder: { [logger] input in
                                logger.critical(
                                    "a host's media holds its decoder up; the mixer ends",
                                    metadata: ["input": "\(input)"]
                                )
                                // Its mark is set: whoever supervises the mixer sees whose media that was.
                                abort()
                            },
                            feeds: feeds(group)
                        )
                    show = current
                    current.follow(followed)
                    if followed.isEnded { break }
                }
            } catch RoomEvents.End.refused(let status) where status == 404 || status == 401 || status == 403 {
                logger.notice("the room cannot be followed any more", metadata: ["status": "\(status)"])
                break
            } catch let error as RoomEvents.End {
                failures += 1
                logger.warning("lost the room's events", metadata: ["error": "\(error)"])
                let wait = min(5_000, 50 << min(failures, 7)) * Int.random(in: 80...120) / 100
                try await Task.sleep(for: .milliseconds(wait))
            }
        }
        // The gateway says when that is over; this is for one that does not.
        if followed.isEnded, followed.linger > 0 {
            try await Task.sleep(for: .seconds(followed.linger + Self.lingerReserve))
        }
        show?.stop()
        try await group.shutdownGracefully()
    }

    /// A recording that cannot be made keeps no show from going on.
    private func makeRecorder() -> ArrivalRecorder? {
        guard let recording else { return nil }
        do {
            return try ArrivalRecorder(path: recording)
        } catch {
            logger.warning("arrivals are not recorded", metadata: ["error": "\(error)"])
            return nil
        }
    }

    private var events: RoomEvents.Source {
        RoomEvents.Source(host: host, port: httpPort, path: "/v1/rooms/\(room)/events", token: token)
    }

    private func reporter(_ group: any EventLoopGroup) -> MixedShow.Reporter {
        var source = events
        source.path = "/v1/rooms/\(room)/mixer/report"
        return { [source, logger] read in
            MixerReporter(source: source, group: group, logger: logger, read: read)
        }
    }

    private func assets(_ group: any EventLoopGroup) -> MixedShow.Assets {
        let source = events
        let (folder, web) = ("/v1/rooms/\(room)/assets/", "/v1/rooms/\(room)/mixer/asset")
        let fetch = AssetFetch()
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
                    // The gateway asks for it, so that a mixer need reach nothing else.
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
                logger.warning("a return feed has no address", metadata: ["error": "\(error)"])
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

    private func feeds(_ group: any EventLoopGroup) -> MixedShow.Feeds {
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
