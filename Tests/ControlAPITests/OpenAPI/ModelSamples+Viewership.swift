import GatewayModel

extension ModelSamples {
    static let uniquesResource = UniquesResource(users: 1, devices: 1, estimated: 1, approximate: true)

    static let logReceiptResource = LogReceiptResource(
        taken: 1,
        ignored: 1,
        nameless: 1,
        malformed: 1,
        late: 1,
        dropped: 1,
        repeated: 1
    )

    static let seriesPointResource = SeriesPointResource(
        at: Timestamp(0),
        group: "x",
        averageViewers: 1.5,
        peakViewers: 1,
        joins: 1,
        leaves: 1,
        watchTimeSeconds: 1.5,
        averageStartupSeconds: 1.5,
        stalledSeconds: 1.5
    )

    static let viewershipSeries = ViewershipSeries(room: "x", step: 60, groupBy: "x", points: [seriesPointResource])

    static let viewershipSliceResource = ViewershipSliceResource()

    static let viewershipSummary = ViewershipSummary(room: "x", beganAt: Timestamp(0), endedAt: Timestamp(1))

    static let absenceResource = AbsenceResource(from: Timestamp(0), to: Timestamp(1))

    static let viewershipPeriod = ViewershipPeriod(from: Timestamp(0), to: Timestamp(60))

    static let viewerSessionResource = ViewerSessionResource(
        id: "x",
        startedAt: Timestamp(0),
        endedAt: Timestamp(1),
        away: [absenceResource],
        watchTimeSeconds: 1.5,
        stalledSeconds: 1.5,
        playback: "x",
        rendition: "x",
        renditions: ["x"],
        region: "x",
        client: "x",
        switches: 1,
        bytes: 1,
        endReason: "x"
    )

    static let viewerSessionList = ViewerSessionList(sessions: [viewerSessionResource], meta: pageResource)
}
