import Admission
import Assets
import ControlAPI
import Egress
import FanOut
import Foundation
import HLS
import Ingest
import Logging
import Media
import MixerProcess
import NIOCore
import Recording
import Persistence
import Shows
import Stage
import Synchronization
import Viewership

/// The components of a gateway, connected in the order of the media flow.
///
/// hosts → `HostIngest` → host feeds → mixer processes → `ProgramIngest` → program feeds → viewers and outputs
struct Pipeline: Sendable {
    /// Rooms and participants.
    let stage: RoomDirectory
    /// Shows and their episodes.
    let shows: ShowDirectory
    /// The stored shows.
    let showStore: ShowStore
    /// Whether every stored show could be read at the start.
    let hasAllShows: Bool
    /// The ingest of hosts' media.
    let hosts: HostIngest
    /// The mixer processes, one per live room.
    let mixers: MixerSupervisor
    /// The ingest of programs.
    let program: ProgramIngest
    /// Host feeds and program feeds with their readers.
    let feeds: FeedDirectory
    let hls: HLSDirectory
    let playlists: HLSController
    /// The previews of rooms that are backstage.
    let previews: PreviewFeeds
    /// The pushes of programs to RTMP servers.
    let livestreams: Livestreams
    /// The recordings of programs.
    let recordings: RecordingController
    /// The viewer counts.
    let viewership: ViewershipLedger
    /// Decides who may watch.
    let gate: AudienceGate
    /// The stored tickets.
    let tickets: TicketStore
    /// The viewers behind content networks, read from their logs.
    let logs: CDNLogReader
    /// The stored viewership history.
    let history: HistoryStore
    /// The stored rooms.
    let roomStore: RoomStore
    /// The rooms' images and music.
    let assets: AssetStore
    /// The degradation of programs, for the log and the metrics.
    let degradation: DegradationLog

    let router: RTMPRouter
    let service: MediaService
    /// The servers in front whose forwarded addresses are trusted.
    let proxies: TrustedProxies
    let tokens: AccessTokens
    private let observation: StageObservation

    /// - Parameters:
    ///   - plan: The division of file descriptors; nil for no limits.
    ///   - plans: Stores running livestreams, which go on after a restart; nil for none.
    ///   - clock: The clock of the viewership timeouts.
    ///   - cluster: What decides which rooms may be created here; nil for a gateway that runs alone.
    ///   - routing: What the public ports need to know of other gateways; nil for a gateway that runs alone.
    init(
        configuration: GatewayConfiguration,
        plan: DescriptorPlan? = nil,
        group: any EventLoopGroup,
        secrets: GatewaySecrets,
        tokens: AccessTokens,
        database: String,
        viewershipDatabase: String,
        ticketDatabase: String,
        showDatabase: String,
        plans: LivestreamPlans? = nil,
        assets: AssetStore,
        clock: any MonotonicClock = SystemClock(),
        cluster: ClusterMembership? = nil,
        routing: NodeRouting? = nil,
        launchMixer: @escaping MixerSupervisor.Launch,
        logger: Logger
    ) {
        self.tokens = tokens
        self.assets = assets
        degradation = DegradationLog(logger: logger)
        let fanOut = FanOutConfiguration(configuration)
        let viewership = ViewershipLedger(
            keys: secrets.sessionKeys,
            clock: clock,
            configuration: ViewershipConfiguration(configuration, fanOut.hls)
        )
        self.viewership = viewership
        let stage = RoomDirectory(
            settings: StageSettings(configuration),
            pepper: secrets.pepper,
            readAudience: { viewership.report(room: $0) },
            checkName: { (name) throws(StageError) in try cluster?.check(name) }
        )
        self.stage = stage
        roomStore = RoomStore(path: database, source: stage, logger: logger)

        let feeds = FeedDirectory(group: group, configuration: fanOut)
        self.feeds = feeds

        let ingest = IngestConfiguration(maximumPublishers: plan?.hosts ?? configuration.maximumHosts)
        // The shows come last, but their hosts' keys are checked here.
        let seats = Mutex<ShowDirectory?>(nil)
        let hosts = HostIngest(
            stage: stage,
            configuration: ingest,
            logger: logger,
            authorize: { key in
                let result = stage.authorizePublish(streamKey: key)
                guard case .failure(.unknownKey) = result, let shows = seats.withLock({ $0 }) else { return result }
                return shows.authorizePublish(streamKey: key)
            }
        ) { grant in
            feeds.open(HostFeedName(grant).text, tick: .zero).makePublisher()
        }
        self.hosts = hosts

        var supervision = MixerSupervision.Configuration()
        supervision.idle = Double(configuration.roomIdle)
        let mixers = MixerSupervisor(
            configuration: supervision,
            logger: logger,
            isInProgress: { (try? stage.summary(of: $0))?.status == .inProgress },
            firstEpoch: { room in
                let seconds = Date().timeIntervalSince1970
                return cluster?.firstEpoch(of: room, at: seconds) ?? UInt64(max(0, seconds))
            },
            packets: { feeds.feed($0)?.activity.packets ?? 0 },
            onExit: { stage.mixerStopped(room: $0) },
            onQuarantine: { room, penalty in
                let sid = penalty.participantSID
                stage.quarantine(room: room, participantSID: sid, seconds: penalty.seconds)
                hosts.close(because: "what this host sends ends the mixer") { $0.participantSID == sid }
                // The cached GOP would crash the next mixer again.
                feeds.closeHost(sid, room: room)
            },
            launch: launchMixer
        )
        self.mixers = mixers

        let segments = fanOut.hls
        hls = HLSDirectory(configuration: segments) {
            segments.firstNumber(at: Date().timeIntervalSince1970)
        }
        playlists = HLSController(directory: hls) { room, error in
            stage.livestreamFailed(room: room, error)
        } onDemand: { room, isOn in
            mixers.demandChanged(room: room, .hls, isOn: isOn)
        } onChange: { room, status in
            stage.hlsChanged(room: room, status)
        }
        let previews = PreviewFeeds(feeds: feeds, hls: hls)
        self.previews = previews
        program = ProgramIngest(feeds: feeds, logger: logger) { feed, isOnAir in
            if let preview = PreviewFeedName(feed) {
                if !isOnAir { previews.mixerStopped(preview) }
            } else {
                viewership.setOnAir(feed, isOnAir)
            }
        }
        history = HistoryStore(
            HistoryStoreConfiguration(configuration, path: viewershipDatabase),
            logger: logger
        )
        // Before the rooms are restored, because their broadcasts continue.
        viewership.enableHistory()
        let recovered = history.load()
        viewership.restore(recovered)
        history.startWritingSteps(of: viewership)
        viewership.loadFiles(of: configuration, logger: logger)
        var pushes = PushConfiguration.output
        pushes.trustFile = configuration.outputAuthorities
        let livestreamEvents = LivestreamEventEmitter(stage: stage)
        livestreams = Livestreams(
            feeds: feeds,
            policy: TargetPolicy(allowsPrivateAddresses: configuration.allowsPrivateOutputs),
            configuration: pushes,
            maximumLivestreams: configuration.maximumLivestreams,
            onFault: { room, error in stage.livestreamFailed(room: room, error) },
            onWarning: { room, warning in stage.livestreamWarned(room: room, warning) },
            onPlan: { room, plan in plans?.set(plan, of: room) },
            onChange: { room, status in
                let isOn = status.state == .starting || status.state == .started
                mixers.demandChanged(room: room, .livestream, isOn: isOn)
                livestreamEvents.changed(room: room, status)
            }
        )

        recordings = RecordingController(RecordingConfiguration(configuration), feeds: feeds, logger: logger) {
            room,
            status in
            mixers.demandChanged(room: room, .recording, isOn: status.demandsProgram)
            stage.recordingChanged(room: room, status)
        } onRotation: { room, status in
            stage.recordingRotated(room: room, status)
        } onFailure: { room, error in
            stage.recordingFailed(room: room, error)
        }

        let tickets = TicketStore(path: ticketDatabase, logger: logger)
        self.tickets = tickets
        let gate = AudienceGate(
            audience: viewership,
            keys: AdmissionKeys(secret: secrets.pepper),
            tickets: tickets.load(),
            store: tickets,
            dismiss: { room, isOver in
                for feed in feeds.all where feed.name == room || RenditionFeedName(feed.name)?.room == room {
                    feed.dismiss(.left, where: isOver)
                }
            }
        )
        self.gate = gate
        let audience = GuardedAudience(viewership, behind: gate)
        let viewers = ViewerTokens(tokens: tokens, stage: stage)
        let trust = ClientTrustPolicy(configuration, tokens: viewers)
        proxies = trust.proxies
        router = RTMPRouter(
            hosts: hosts,
            program: program,
            audience: RTMPPlayService(feeds: feeds, audience: audience, trust: trust),
            feeds: feeds,
            returnFeeds: ReturnFeedPolicy(stage: stage),
            tokens: tokens,
            viewers: viewers,
            logger: logger
        )
        var service = MediaService(
            feeds: feeds,
            hls: hls,
            audience: audience,
            limits: HTTPLimits(configuration, plan: plan),
            trust: trust
        )
        service.routing = routing
        self.service = service
        logs = CDNLogReader(
            audience: viewership,
            usesDeviceIDs: trust.usesDeviceIDs,
            clock: clock,
            lateness: configuration.logLateness,
            spool: LogSpool(folder: viewershipDatabase + ".logs", logger: logger)
        ) { room in
            feeds.feed(room) != nil
        }

        let dispatcher = StageEventDispatcher(
            stage: stage,
            hosts: hosts,
            mixers: mixers,
            program: program,
            previews: previews,
            feeds: feeds,
            hls: playlists,
            playlists: hls,
            livestreams: livestreams,
            recordings: recordings,
            viewership: viewership,
            gate: gate,
            roomStore: roomStore,
            assets: assets,
            degradation: degradation,
            logger: logger
        )
        observation = stage.observe { dispatcher.dispatch($0) }
        let showStore = ShowStore(path: showDatabase, secret: secrets.pepper, logger: logger)
        self.showStore = showStore
        let stored = showStore.load()
        hasAllShows = stored.areAll
        let shows = ShowDirectory(
            stage: stage,
            shows: stored.shows,
            store: showStore,
            effects: ShowDirectory.Effects(livestreams, recordings, logger: logger)
        )
        self.shows = shows
        // Every component above receives each room as newly created, with its participants.
        let records = roomStore.load()
        if !records.isEmpty { logger.notice("rooms restored", metadata: ["rooms": "\(records.count)"]) }
        stage.restore(records)
        shows.resume()
        seats.withLock { $0 = shows }
        // After the rooms, because viewers are counted in existing rooms only.
        logs.resume(from: recovered.lastSeen.map { $0 - recovered.logLag - CDNLogReader.spoolMargin })
        // Files of shows stay while one of them cannot be read.
        assets.removeOrphans { sid in
            (try? stage.summary(of: sid))?.status == .inProgress || (try? shows.show(sid)) != nil
                || (!stored.areAll && sid.hasPrefix(Show.identifierPrefix))
        }
        for (room, plan) in plans?.load() ?? [:] { resume(plan, in: room, plans, logger) }
    }

    /// Starts a livestream again that was running before a restart; it pushes as soon as the program is back.
    private func resume(_ plan: LivestreamPlan, in room: String, _ plans: LivestreamPlans?, _ logger: Logger) {
        let isInProgress = (try? stage.summary(of: room))?.status == .inProgress
        guard isInProgress, let options = plan.options(at: Date().timeIntervalSince1970) else {
            plans?.set(nil, of: room)
            return
        }
        do {
            try livestreams.start(room: room, targets: plan.targets, options: options)
            logger.notice("livestream goes on", metadata: ["room": "\(room)", "outputs": "\(plan.targets.count)"])
        } catch {
            plans?.set(nil, of: room)
            stage.livestreamFailed(room: room, error)
        }
    }
}

extension Pipeline {
    /// Applies the reloadable settings of a configuration.
    func apply(_ configuration: GatewayConfiguration, _ plan: DescriptorPlan) {
        let limits = HTTPLimits(configuration, plan: plan)
        service.setClientLimits(requests: limits.requests, connections: limits.connections)
        viewership.limitClients(
            unproven: configuration.clientSessions == 0 ? nil : configuration.clientSessions,
            watching: configuration.clientViewers == 0 ? nil : configuration.clientViewers
        )
        proxies.replace(with: TrustedProxies(configuration))
    }
}
