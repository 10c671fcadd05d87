import FootlightTesting
import Foundation
import FootlightModel
import Testing

/// One value of every model type with no field missing, to compare its encoded fields with the description.
enum ModelSamples {
    struct Sample: Sendable, CustomTestStringConvertible {
        let name: String
        let keys: Set<String>

        var testDescription: String { name }

        init(_ value: some Encodable) {
            name = "\(type(of: value))"
            let object = try? JSONSerialization.jsonObject(with: WireJSON.encode(value))
            keys = Set((object as? [String: Any] ?? [:]).keys)
        }
    }

    static let all: [Sample] =
        shows + system + [
            Sample(absenceResource),
            Sample(accessBody),
            Sample(accessResource),
            Sample(admissionBody),
            Sample(admissionResource),
            Sample(createTicketsBody),
            Sample(ticketList),
            Sample(ticketResource),
            Sample(assetList),
            Sample(assetResource),
            Sample(autoStartBody),
            Sample(backgroundResource),
            Sample(breakdownResource),
            Sample(callSettingsBody),
            Sample(callSettingsResource),
            Sample(connectOptionsBody),
            Sample(connectOptionsResource),
            Sample(countsResource),
            Sample(createInvitationBody),
            Sample(createRoomBody),
            Sample(createWebhookBody),
            Sample(customEventResource),
            Sample(egressResource),
            Sample(errorAnswer),
            Sample(errorResource),
            Sample(eventResource),
            Sample(handList),
            Sample(handResource),
            Sample(heartbeatBody),
            Sample(hLSResource),
            Sample(hostLevelResource),
            Sample(ingestResource),
            Sample(invitationResource),
            Sample(inviteeResource),
            Sample(joinAnswer),
            Sample(joinBody),
            Sample(layoutBody),
            Sample(HostOrderResource(identities: ["x"])),
            Sample(layoutPreviewBody),
            Sample(layoutResource),
            Sample(layoutSettingsResource),
            Sample(levelsResource),
            Sample(livestreamResource),
            Sample(logoResource),
            Sample(logReceiptResource),
            Sample(lowerThirdResource),
            Sample(mixerFramesResource),
            Sample(mixerLoadResource),
            Sample(mixerReportBody),
            Sample(mixerReportEntry),
            Sample(modeAnswer),
            Sample(modeBody),
            Sample(outputBody),
            Sample(outputFaultResource),
            Sample(outputResource),
            Sample(overlaysBody),
            Sample(overlaysResource),
            Sample(pageResource),
            Sample(participantList),
            Sample(participantResource),
            Sample(participantSoundBody),
            Sample(participantSoundResource),
            Sample(pinBody),
            Sample(pinResource),
            Sample(playbackResource),
            Sample(previewHost),
            Sample(programLevelResource),
            Sample(programResource),
            Sample(publishTrackBody),
            Sample(raiseHandBody),
            Sample(reconnectBody),
            Sample(recordedFileResource),
            Sample(recordingList),
            Sample(recordingResource),
            Sample(renditionLoadResource),
            Sample(renditionResource),
            Sample(revokeTokenBody),
            Sample(revokedTokenList),
            Sample(revokedTokenResource),
            Sample(roomList),
            Sample(roomResource),
            Sample(roomSoundBody),
            Sample(roomSoundResource),
            Sample(rTMPIngestResource),
            Sample(sendEventBody),
            Sample(slateResource),
            Sample(slatesBody),
            Sample(slatesResource),
            Sample(startHLSBody),
            Sample(startLivestreamBody),
            Sample(syncResource),
            Sample(TalkbackBlock(hosts: ["x"], samples: Data())),
            Sample(TalkbackResource(speaker: "x", hosts: ["x"], unreachable: ["x"], dropped: 1)),
            Sample(thresholdResource),
            Sample(tickerResource),
            Sample(tileResource),
            Sample(trackResource),
            Sample(updateParticipantBody),
            Sample(updateRoomBody),
            Sample(updateTrackBody),
            Sample(updateWebhookBody),
            Sample(seriesPointResource),
            Sample(uniquesResource),
            Sample(viewerSessionList),
            Sample(viewerSessionResource),
            Sample(viewershipSeries),
            Sample(viewershipRetention),
            Sample(retentionPointResource),
            Sample(viewershipPeriod),
            Sample(viewershipSliceResource),
            Sample(viewershipSummary),
            Sample(viewershipResource),
            Sample(viewershipTotalsResource),
            Sample(warningResource),
            Sample(webhookAttemptResource),
            Sample(webhookDeliveryList),
            Sample(webhookDeliveryResource),
            Sample(webhookList),
            Sample(webhookResource),
        ]
}

extension ModelSamples {
    static let backgroundResource = BackgroundResource(colour: "x", image: "x")

    static let logoResource = LogoResource(image: "x", position: "x", opacity: 1.5, height: 1.5)

    static let lowerThirdResource = LowerThirdResource(title: "x", subtitle: "x")

    static let tickerResource = TickerResource(text: "x", speed: 1.5)

    static let slateResource = SlateResource(text: "x", image: "x", music: "x")

    static let slatesBody = SlatesBody(
        startingSoon: ExplicitNull(wrappedValue: slateResource),
        beRightBack: ExplicitNull(wrappedValue: slateResource),
        ended: ExplicitNull(wrappedValue: slateResource)
    )

    static let slatesResource = SlatesResource(
        startingSoon: slateResource,
        beRightBack: slateResource,
        ended: slateResource
    )

    static let roomSoundBody = RoomSoundBody(
        levelling: true,
        duck: "x",
        duckDB: 1.5,
        jitterTarget: ExplicitNull(wrappedValue: 1)
    )

    static let roomSoundResource = RoomSoundResource(
        levelling: true,
        duck: "x",
        duckDB: 1.5,
        jitterTarget: 1
    )

    static let participantSoundBody = ParticipantSoundBody(
        gainDB: 1.5,
        priority: true,
        returnFeed: true,
        jitterTarget: ExplicitNull(wrappedValue: 1)
    )

    static let participantSoundResource = ParticipantSoundResource(
        gainDB: 1.5,
        priority: true,
        returnFeed: true,
        jitterTarget: 1
    )

    static let syncResource = SyncResource(
        targetMS: 1.5,
        offsetMS: 1.5,
        driftPPM: 1.5,
        bufferMS: 1.5,
        late: 1,
        duplicated: 1,
        dropped: 1
    )

    static let assetResource = AssetResource(
        name: "x",
        kind: "x",
        contentType: "x",
        size: 1,
        version: "x",
        dateStored: Timestamp(0)
    )

    static let assetList = AssetList(assets: [assetResource])
}

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

    static let retentionPointResource = RetentionPointResource(afterSeconds: 60, joins: 1, watching: 1, share: 1.5)

    static let viewershipRetention = ViewershipRetention(
        room: "x",
        beganAt: Timestamp(0),
        endedAt: Timestamp(1),
        step: 60,
        points: [retentionPointResource]
    )

    static let viewershipSliceResource = ViewershipSliceResource()

    static let viewershipSummary = {
        var summary = ViewershipSummary(room: "x", beganAt: Timestamp(0), endedAt: Timestamp(1))
        summary.roomSID = "x"
        return summary
    }()

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

extension ModelSamples {
    static let renditionResource = RenditionResource(name: "x", width: 1, height: 1, fps: Rate("30"), videoBitrate: 1)

    static let recordedFileResource = RecordedFileResource(
        sid: "x",
        run: "x",
        part: 1,
        roomSID: "x",
        roomName: "x",
        state: "x",
        startedAt: Timestamp(0),
        endedAt: Timestamp(0),
        duration: 1.5,
        bytes: 1,
        width: 1,
        height: 1,
        codecs: "x",
        mediaURL: "x"
    )

    static let recordingList = RecordingList(recordings: [recordedFileResource], meta: pageResource)

    static let recordingResource = RecordingResource(
        state: "x",
        run: "x",
        startedAt: Timestamp(0),
        fileSID: "x",
        droppedPackets: 1,
        error: errorResource
    )
}

extension ModelSamples {
    static let createWebhookBody = CreateWebhookBody(
        url: "x",
        description: "x",
        types: ["x"],
        room: "x",
        show: "x",
        enabled: true
    )

    static let updateWebhookBody: UpdateWebhookBody = {
        var body = UpdateWebhookBody()
        body.url = "x"
        body.description = "x"
        body.types = ["x"]
        body.room = ExplicitNull(wrappedValue: "x")
        body.enabled = true
        return body
    }()

    static let webhookResource = WebhookResource(
        id: "x",
        url: "x",
        secret: "x",
        createdAt: Timestamp(0),
        updatedAt: Timestamp(0)
    )

    static let webhookList = WebhookList(webhooks: [webhookResource])

    static let webhookAttemptResource = WebhookAttemptResource(
        number: 1,
        at: Timestamp(0),
        duration: 1.5,
        outcome: "x",
        status: 1,
        retryAfter: 1.5
    )

    static let webhookDeliveryResource = WebhookDeliveryResource(
        id: "x",
        seq: 1,
        type: "x",
        room: "x",
        at: Timestamp(0),
        state: "x",
        tries: 1,
        attempts: [webhookAttemptResource]
    )

    static let webhookDeliveryList = WebhookDeliveryList(deliveries: [webhookDeliveryResource], meta: pageResource)

    static let thresholdResource = ThresholdResource(threshold: 1, viewership: viewershipResource)
}
