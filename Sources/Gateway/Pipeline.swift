import Assets
import ControlAPI
import Egress
import FanOut
import Foundation
import HLS
import Ingest
import Logging
import Media
import NIOCore
import Recording
import RoomStore
import Stage
import Viewership
import ViewershipStore

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
    let playlists: HLSControl
    /// The program out to RTMP servers.
    let livestreams: Livestreams
    /// The program on disk.
    let recordings: RecordingControl
    /// How many are watching.
    let viewership: ViewershipLedger
    /// How many are watching behind content networks, as those tell it.
    let logs: AudienceLogs
    /// How many were watching, for as long as the operator keeps it.
    let history: HistoryKeeper
    /// Rooms on disk, for the next start.
    let keeper: RoomKeeper
    /// The rooms' pictures and sounds.
    let assets: AssetStore
    /// What programs do without, for the log and the metrics.
    let degradation: DegradationLog

    let doors: StreamDoors
    let site: MediaSite
    /// The servers in front that are believed when they say where a request comes from.
    let proxies: TrustedProxies
    let tokens: AccessTokens
    private let observation: StageObservation

    /// - Parameters:
    ///   - plan: How many descriptors there are for whom; nil where there are enough.
    ///   - clock: The audience's; its time-outs go by it.
    init(
        configuration: GatewayConfiguration,
        plan: DescriptorPlan? = nil,
        group: any EventLoopGroup,
        secrets: GatewaySecrets,
        tokens: AccessTokens,
        database: String,
        viewershipDatabase: String,
        assets: AssetStore,
        clock: any MonotonicClock = SystemClock(),
        launchMixer: @escaping MixerSupervisor.Launch,
        logger: Logger
    ) {
        self.tokens = tokens
        self.assets = assets
        degradation = DegradationLog(logger: logger)
        let stage = RoomDirectory(
            settings: StageSettings(
                maximumRooms: configuration.maximumRooms,
                createsRoomsOnJoin: configuration.makesRoomsAdHoc,
                callSettings: configuration.callSettings,
                processor: configuration.processorCeiling > 0
                    ? ProcessorBudget(
                        cores: System.coreCount,
                        ceiling: Double(configuration.processorCeiling) / 100
                    ) : nil
            ),
            pepper: secrets.pepper
        )
        self.stage = stage
        keeper = RoomKeeper(RoomStoreConfiguration(path: database), source: stage, logger: logger)

        var fanOut = FanOutConfiguration()
        fanOut.tick = .milliseconds(Int64(configuration.fanOutTick))
        fanOut.maximumViewers = configuration.maximumViewers
        let feeds = FeedDirectory(group: group, configuration: fanOut)
        self.feeds = feeds

        let ingest = IngestConfiguration(maximumPublishers: plan?.hosts ?? configuration.maximumHosts)
        let hosts = HostDoor(stage: stage, configuration: ingest, logger: logger) { grant in
            feeds.open(HostFeedName(grant).text, tick: .zero).makePublisher()
        }
        self.hosts = hosts

        var supervision = MixerSupervision.Configuration()
        supervision.idle = Double(configuration.roomIdle)
        let mixers = MixerSupervisor(
            configuration: supervision,
            logger: logger,
            isInProgress: { (try? stage.summary(of: $0))?.status == .inProgress },
            packets: { feeds.feed($0)?.activity.packets ?? 0 },
            onExit: { stage.mixerStopped(room: $0) },
            onSentence: { room, sentence in
                let sid = sentence.participantSID
                stage.quarantine(room: room, participantSID: sid, seconds: sentence.seconds)
                hosts.close(because: "what this host sends ends the mixer") { $0.participantSID == sid }
                // What they hold is what the next mixer would begin with.
                feeds.closeHost(sid, room: room)
            },
            launch: launchMixer
        )
        self.mixers = mixers

        let segments = fanOut.hls
        hls = HLSDirectory(configuration: segments) {
            segments.firstNumber(at: Date().timeIntervalSince1970)
        }
        playlists = HLSControl(directory: hls) { room, error in
            stage.livestreamFailed(room: room, error)
        } onDemand: { room, isOn in
            mixers.demandChanged(room: room, .hls, isOn: isOn)
        } onChange: { room, status in
            stage.hlsChanged(room: room, status)
        }
        viewership = ViewershipLedger(
            keys: secrets.sessionKeys,
            clock: clock,
            configuration: ViewershipConfiguration(
                targetDuration: Double(fanOut.hls.targetDuration),
                longestBuffer: Double(fanOut.hls.windowLength + 1) * Double(fanOut.hls.targetDuration),
                unprovenPerClient: configuration.clientSessions == 0 ? nil : configuration.clientSessions,
                viewersPerClient: configuration.clientViewers == 0 ? nil : configuration.clientViewers,
                countsReportsAlone: configuration.countsReportsAlone,
                region: configuration.homeRegion ?? ""
            )
        )
        let viewership = self.viewership
        program = ProgramDoor(feeds: feeds, logger: logger) { room, isOnAir in viewership.setOnAir(room, isOnAir) }
        history = HistoryKeeper(
            HistoryStoreConfiguration(configuration, path: viewershipDatabase),
            logger: logger
        )
        // Before the rooms: their broadcasts go on where they were.
        viewership.keepHistory()
        let recovered = history.load()
        viewership.restore(recovered)
        history.keepSteps(of: viewership)
        if let path = configuration.regionDatabase {
            do throws(RegionDatabase.Fault) {
                viewership.useRegions(try RegionDatabase(path: path))
            } catch {
                logger.error("the file of regions is of no use", metadata: ["file": "\(path)", "reason": "\(error)"])
            }
        }
        if let path = configuration.robotList {
            do throws(RobotList.Fault) {
                viewership.useRobots(try RobotList(path: path))
            } catch {
                logger.error("the list of robots is of no use", metadata: ["file": "\(path)", "reason": "\(error)"])
            }
        }
        let news = LivestreamNews(stage: stage)
        livestreams = Livestreams(
            feeds: feeds,
            policy: TargetPolicy(allowsPrivateAddresses: configuration.allowsPrivateOutputs),
            maximumLivestreams: configuration.maximumLivestreams,
            onFault: { room, error in stage.livestreamFailed(room: room, error) },
            onWarning: { room, warning in stage.livestreamWarned(room: room, warning) },
            onChange: { room, status in
                let isOn = status.state == .starting || status.state == .started
                mixers.demandChanged(room: room, .livestream, isOn: isOn)
                news.changed(room: room, status)
            }
        )

        recordings = RecordingControl(RecordingConfiguration(configuration), feeds: feeds, logger: logger) {
            room,
            status in
            mixers.demandChanged(room: room, .recording, isOn: status.demandsProgram)
            stage.recordingChanged(room: room, status)
        } onRotation: { room, status in
            stage.recordingRotated(room: room, status)
        } onFailure: { room, error in
            stage.recordingFailed(room: room, error)
        }

        let viewers = ViewerTokens(tokens: tokens, stage: stage)
        let reading = PlayerReading(configuration, tokens: viewers)
        proxies = reading.proxies
        doors = StreamDoors(
            hosts: hosts,
            program: program,
            audience: RTMPAudience(feeds: feeds, audience: viewership, reading: reading),
            feeds: feeds,
            returns: ReturnFeedRule(stage: stage),
            tokens: tokens,
            viewers: viewers,
            logger: logger
        )
        site = MediaSite(
            feeds: feeds,
            hls: hls,
            audience: viewership,
            limits: HTTPLimits(configuration, plan: plan),
            reading: reading
        )
        logs = AudienceLogs(
            audience: viewership,
            takesDevices: reading.takesDevices,
            clock: clock,
            lateness: configuration.logLateness,
            spool: LogSpool(folder: viewershipDatabase + ".logs", logger: logger)
        ) { room in
            feeds.feed(room) != nil
        }

        let follower = StageFollower(
            stage: stage,
            hosts: hosts,
            mixers: mixers,
            program: program,
            feeds: feeds,
            hls: playlists,
            livestreams: livestreams,
            recordings: recordings,
            viewership: viewership,
            keeper: keeper,
            assets: assets,
            degradation: degradation,
            logger: logger
        )
        observation = stage.observe { follower.follow($0) }
        // Everybody above hears of each room as if it had just been made, with those who were in it.
        let records = keeper.load()
        if !records.isEmpty { logger.notice("rooms found again", metadata: ["rooms": "\(records.count)"]) }
        stage.restore(records)
        // Behind the rooms: in one that is not there nobody is counted.
        logs.resume(from: recovered.lastSeen.map { $0 - recovered.logLag - AudienceLogs.spoolMargin })
        assets.tidy(keeping: Set(stage.rooms(.inProgress).map(\.sid)))
    }
}
