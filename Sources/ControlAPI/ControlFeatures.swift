/// The routes of one feature.
protocol FeatureRoutes: Sendable {
    func add(to api: APIRoutes)
}

/// The routes of all features below `/v1`, each made from the services that it needs.
struct ControlFeatures: Sendable {
    let all: [any FeatureRoutes]
    let viewership: ViewershipRoutes
    let webhookEvents: WebhookEventBuilder

    init(_ services: ControlServices, audit: AuditLog) {
        let rooms = RoomAccess(
            directory: services.directory,
            admission: services.admission,
            persist: services.persist,
            cluster: services.cluster,
            audit: audit
        )
        let answers = RoomAnswers(
            viewership: services.viewership,
            livestreams: services.livestreams,
            hls: services.hls,
            gate: services.gate,
            node: services.cluster?.name,
            gatewayAddresses: services.addresses
        )
        let access = EventStreamAccess(
            limiter: services.clientStreams,
            client: services.client,
            logout: services.logout,
            revocations: services.tokens.revocations
        )
        let snapshots = SnapshotStore()
        let talkback = TalkbackHub()
        let autoStarts = AutoStartScheduler(directory: services.directory, livestreams: services.livestreams)
        let files = AssetRoutes(rooms: rooms, assets: services.assets, shows: services.shows)
        webhookEvents = WebhookEventBuilder(directory: services.directory, answers: answers)
        viewership = ViewershipRoutes(
            rooms: rooms,
            viewership: services.viewership,
            history: services.history,
            access: access
        )
        all = [
            RoomRoutes(
                rooms: rooms,
                answers: answers,
                autoStarts: autoStarts,
                gate: services.gate,
                cluster: services.cluster
            ),
            AudienceAccessRoutes(rooms: rooms, answers: answers, gate: services.gate, viewer: services.reporter),
            LayoutRoutes(rooms: rooms, files: files),
            AudioRoutes(rooms: rooms),
            TalkbackRoutes(rooms: rooms, hub: talkback),
            files,
            ShowRoutes(
                shows: services.shows,
                rooms: rooms,
                answers: answers,
                gate: services.gate,
                assets: services.assets,
                recordings: services.recordings,
                webhooks: services.webhooks
            ),
            ParticipantRoutes(rooms: rooms, answers: answers, viewership: services.viewership),
            SessionRoutes(rooms: rooms, answers: answers),
            ModeRoutes(rooms: rooms, answers: answers),
            TrackRoutes(rooms: rooms),
            DiagnosisRoutes(rooms: rooms),
            PinRoutes(rooms: rooms),
            LivestreamRoutes(
                rooms: rooms,
                answers: answers,
                livestreams: services.livestreams,
                hls: services.hls
            ),
            InvitationRoutes(rooms: rooms),
            HandRoutes(rooms: rooms),
            viewership,
            PlayerReportRoutes(viewership: services.viewership, reporter: services.reporter),
            CDNLogRoutes(rooms: rooms, logs: services.logs),
            MixerRoutes(
                rooms: rooms,
                snapshots: snapshots,
                talkback: talkback,
                mixerReported: services.mixerReported,
                isPreviewWatched: services.isPreviewWatched,
                fetch: services.fetch,
                access: access
            ),
            RecordingRoutes(rooms: rooms, answers: answers, recordings: services.recordings),
            SnapshotRoutes(
                rooms: rooms,
                tokens: services.tokens,
                snapshots: snapshots,
                gate: services.gate,
                viewer: services.reporter,
                client: services.client,
                clientSnapshots: services.clientSnapshots
            ),
            EventRoutes(rooms: rooms, answers: answers, access: access),
            WebhookRoutes(webhooks: services.webhooks, shows: services.shows),
            TokenRoutes(tokens: services.tokens, issued: services.issuedTokens, audit: audit),
            SystemRoutes(system: services.system),
            NodeRoutes(cluster: services.cluster),
        ]
    }
}
