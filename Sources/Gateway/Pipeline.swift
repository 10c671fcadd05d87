import ControlAPI
import Egress
import FanOut
import Ingest
import Logging
import Media
import NIOCore
import Stage
import Viewership

/// All parts of a gateway, wired in the order in which a picture passes through them.
///
/// hosts → `HostDoor` → host feeds → mixer processes → `ProgramDoor` → program feeds → audience and outputs
struct Pipeline: Sendable {
    /// Who is on air.
    let stage: RoomDirectory
    /// Hosts in.
    let hosts: HostDoor
    /// Many hosts, one program: a process per live room.
    let mixers: MixerSupervisor
    /// The program in.
    let program: ProgramDoor
    /// Host feeds and program feeds, and everyone who plays them.
    let feeds: FeedDirectory
    let hls: HLSDirectory
    /// The program out to RTMP servers.
    let livestreams: Livestreams
    /// How many are watching.
    let viewership: ViewershipLedger

    let doors: StreamDoors
    let site: MediaSite
    let tokens: AccessTokens
    private let observation: Observation

    init(
        configuration: GatewayConfiguration,
        group: any EventLoopGroup,
        secrets: GatewaySecrets,
        tokens: AccessTokens,
        launchMixer: @escaping MixerSupervisor.Launch,
        logger: Logger
    ) {
        self.tokens = tokens
        let stage = RoomDirectory(pepper: secrets.pepper)
        self.stage = stage

        var fanOut = FanOutConfiguration()
        fanOut.tick = .milliseconds(Int64(configuration.fanOutTick))
        fanOut.maximumViewers = configuration.maximumViewers
        let feeds = FeedDirectory(group: group, configuration: fanOut)
        self.feeds = feeds

        hosts = HostDoor(stage: stage, logger: logger) { grant in
            feeds.open(HostFeedName(grant).text, tick: .zero).makePublisher()
        }

        var supervision = MixerSupervision.Configuration()
        supervision.idle = Double(configuration.roomIdle)
        mixers = MixerSupervisor(configuration: supervision, logger: logger, launch: launchMixer)

        program = ProgramDoor(feeds: feeds, logger: logger)
        hls = HLSDirectory(configuration: fanOut.hls)
        viewership = ViewershipLedger(keys: secrets.sessionKeys)
        livestreams = Livestreams(
            feeds: feeds,
            policy: TargetPolicy(allowsPrivateAddresses: configuration.resolvedAllowsPrivateOutputs)
        ) { room, status in
            stage.livestreamChanged(room: room, status)
        }

        doors = StreamDoors(
            hosts: hosts,
            program: program,
            audience: RTMPAudience(feeds: feeds, audience: viewership),
            feeds: feeds,
            tokens: tokens,
            logger: logger
        )
        site = MediaSite(feeds: feeds, hls: hls, audience: viewership)

        let follower = StageFollower(
            stage: stage,
            hosts: hosts,
            mixers: mixers,
            program: program,
            feeds: feeds,
            hls: hls,
            livestreams: livestreams,
            viewership: viewership
        )
        observation = stage.observe { follower.follow($0) }
    }
}
