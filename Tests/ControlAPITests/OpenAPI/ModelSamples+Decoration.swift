import GatewayModel

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
