import Foundation
import FootlightModel
import FootlightTesting
import Testing

@Suite("Golden JSON")
struct GoldenJSONTests {
    private func json(_ value: some Encodable) throws -> String {
        String(decoding: try WireJSON.encode(value), as: UTF8.self)
    }

    /// Encodes and decodes a value, and compares with the golden text.
    private func golden<Value: Codable & Equatable>(_ value: Value, _ text: String) throws {
        #expect(try json(value) == text)
        #expect(try WireJSON.decode(Value.self, from: Data(text.utf8)) == value)
    }

    private static let tile = TileResource(
        position: 1,
        participantSID: "PA2",
        source: "camera",
        x: 644,
        y: 0,
        width: 636,
        height: 720,
        scaleMode: "fill",
        label: "Ben",
        micOn: true
    )

    private static let tileJSON =
        #"{"avatar":null,"height":720,"in_strip":false,"label":"Ben","mic_on":true,"participant_sid":"PA2","position":1,"scale_mode":"fill","#
        + #""source":"camera","width":636,"x":644,"y":0}"#

    @Test("A tile")
    func tile() throws {
        try golden(Self.tile, Self.tileJSON)
    }

    @Test("A participant; what is unknown is null")
    func participant() throws {
        try golden(
            ParticipantResource(
                sid: "PA1",
                identity: "ann",
                displayName: "Ann",
                mode: "SEND_AND_RECV",
                status: "connected",
                isMicOn: true,
                isCameraOn: false,
                isScreenSharing: false,
                isSpeaking: true,
                isDominantSpeaker: false,
                audioLevel: -31.5,
                pin: PinResource(isLocal: false, pinType: "CAM", pinnedAt: Timestamp(1)),
                position: nil,
                tracks: [
                    TrackResource(
                        sid: "MT1",
                        name: "mic",
                        kind: "audio",
                        published: true,
                        subscribed: true,
                        enabled: true,
                        mediaState: "playable",
                        width: nil,
                        height: nil,
                        fps: nil,
                        codec: "AAC"
                    )
                ],
                metadata: ["seat": .number(3), "tags": .array([.string("a"), .null])],
                avatar: "asset:ann",
                sound: ParticipantSoundResource(gainDB: -6, priority: true),
                joinedAt: Timestamp(1_700_000_000.25),
                revision: 7
            ),
            #"{"audio_level":-31.5,"avatar":"asset:ann","display_name":"Ann","identity":"ann","is_camera_on":false,"#
                + #""is_dominant_speaker":false,"is_mic_on":true,"is_screen_sharing":false,"is_speaking":true,"#
                + #""joined_at":"2023-11-14T22:13:20.250Z","metadata":{"seat":3,"tags":["a",null]},"#
                + #""mode":"SEND_AND_RECV","pin":{"is_local":false,"pin_type":"CAM","#
                + #""pinned_at":"1970-01-01T00:00:01.000Z"},"position":null,"quarantined_until":null,"revision":7,"#
                + #""sid":"PA1","sound":{"gain_db":-6,"priority":true,"return_feed":false},"#
                + #""status":"connected","sync":null,"tracks":[{"codec":"AAC","enabled":true,"fps":null,"height":null,"#
                + #""kind":"audio","media_state":"playable","name":"mic","published":true,"sid":"MT1","#
                + #""subscribed":true,"width":null}]}"#
        )
    }

    @Test("the layout.changed event")
    func layoutChanged() throws {
        var event = EventResource(type: "layout.changed", roomSID: "RM1", rev: 9, ts: Timestamp(0))
        event.layout = LayoutResource(
            settings: LayoutSettingsResource(
                type: "GRID",
                gridSize: 12,
                orientation: "landscape",
                background: BackgroundResource(colour: "#102030"),
                ticker: TickerResource(text: "now", speed: 0.1)
            ),
            width: 1280,
            height: 720,
            tiles: [Self.tile]
        )
        event.tiles = [Self.tile]
        try golden(
            event,
            ##"{"layout":{"auto_switch_on_screen_share":true,"background":{"colour":"#102030"},"grid_size":12,"##
                + #""height":720,"logo":null,"lower_third":null,"orientation":"landscape","#
                + #""overlays":{"mic":true,"name":true},"priority":"SPEAKER","scale_mode":"fill","#
                + #""slates":{"be_right_back":null,"ended":null,"starting_soon":null},"theme":"DEFAULT","#
                + #""ticker":{"speed":0.1,"text":"now"},"tiles":["# + Self.tileJSON
                + #"],"transition_ms":300,"type":"GRID","width":1280},"rev":9,"room_sid":"RM1","tiles":["#
                + Self.tileJSON
                + #"],"ts":"1970-01-01T00:00:00.000Z","type":"layout.changed"}"#
        )
    }

    @Test("a custom event with and without a participant, and a raised hand")
    func customEvent() throws {
        var event = EventResource(type: "custom.event", roomSID: "RM1", rev: 9, ts: Timestamp(0))
        event.custom = CustomEventResource(
            type: "reaction",
            data: ["emoji": .string("x")],
            participantSID: "PA1",
            identity: "ann"
        )
        let rest = #""rev":9,"room_sid":"RM1","ts":"1970-01-01T00:00:00.000Z","type":"#
        try golden(
            event,
            #"{"custom":{"data":{"emoji":"x"},"identity":"ann","participant_sid":"PA1","type":"reaction"},"#
                + rest + #""custom.event"}"#
        )
        event.custom = CustomEventResource(type: "over", data: [:], participantSID: nil, identity: nil)
        try golden(
            event,
            #"{"custom":{"data":{},"identity":null,"participant_sid":null,"type":"over"},"# + rest + #""custom.event"}"#
        )
        var hand = EventResource(type: "hand.raised", roomSID: "RM1", rev: 9, ts: Timestamp(0))
        hand.hand = HandResource(
            sid: "HA1",
            participantSID: "PA1",
            identity: "ann",
            raisedAt: Timestamp(0),
            expiresAt: Timestamp(300)
        )
        try golden(
            hand,
            #"{"hand":{"expires_at":"1970-01-01T00:05:00.000Z","identity":"ann","participant_sid":"PA1","#
                + #""raised_at":"1970-01-01T00:00:00.000Z","sid":"HA1"},"# + rest + #""hand.raised"}"#
        )
    }

    @Test("A program; rates are numbers where they can be")
    func program() throws {
        let program = ProgramResource(
            width: 1280,
            height: 720,
            fps: Rate("30"),
            videoBitrate: 3000,
            audioBitrate: 128,
            preset: "veryfast",
            keyInterval: 2,
            jitterTarget: 300
        )
        try golden(
            program,
            #"{"audio_bitrate":128,"fps":30,"height":720,"jitter_target":300,"key_interval":2,"preset":"veryfast","#
                + #""video_bitrate":3000,"width":1280}"#
        )
        try golden(ProgramResource(fps: Rate("29.97")), #"{"fps":29.97}"#)
        try golden(ProgramResource(fps: Rate("30000/1001")), #"{"fps":"30000/1001"}"#)
    }

    @Test("no dominant speaker is an explicit null, which differs from a missing field")
    func silence() throws {
        var event = EventResource(type: "dominant_speaker.changed", roomSID: "RM1", rev: 9, ts: Timestamp(0))
        event.sid = ExplicitNull(wrappedValue: nil)
        event.previousSID = ExplicitNull(wrappedValue: "PA1")
        try golden(
            event,
            #"{"previous_sid":"PA1","rev":9,"room_sid":"RM1","sid":null,"ts":"1970-01-01T00:00:00.000Z","#
                + #""type":"dominant_speaker.changed"}"#
        )
        let other = try WireJSON.decode(
            EventResource.self,
            from: Data(#"{"rev":9,"room_sid":"","ts":"1970-01-01T00:00:00.000Z","type":"heartbeat"}"#.utf8)
        )
        #expect(other.sid == nil)
    }

    @Test("a mixer report; a host without a microphone has a null level")
    func mixerReport() throws {
        try golden(
            MixerReportBody(participants: [
                MixerReportEntry(
                    sid: "PA1",
                    audioLevel: -31.5,
                    subscribed: ["mic", "camera"],
                    sync: SyncResource(
                        targetMS: 60,
                        offsetMS: 12.5,
                        driftPPM: -3,
                        bufferMS: 280,
                        late: 1,
                        duplicated: 2,
                        dropped: 3
                    )
                ),
                MixerReportEntry(sid: "PA2", audioLevel: nil, subscribed: []),
            ]),
            #"{"participants":[{"audio_level":-31.5,"sid":"PA1","subscribed":["mic","camera"],"#
                + #""sync":{"buffer_ms":280,"drift_ppm":-3,"dropped":3,"duplicated":2,"late":1,"offset_ms":12.5,"#
                + #""target_ms":60}},"#
                + #"{"audio_level":null,"sid":"PA2","subscribed":[]}]}"#
        )
    }

    @Test("a layout request distinguishes null from an omitted field")
    func layoutBody() throws {
        try golden(
            LayoutBody(
                transitionMS: ExplicitNull(wrappedValue: nil),
                logo: ExplicitNull(wrappedValue: LogoResource(image: "asset:logo", opacity: 0.5)),
                slates: ExplicitNull(
                    wrappedValue: SlatesBody(
                        startingSoon: ExplicitNull(wrappedValue: SlateResource(text: "At eight")),
                        ended: ExplicitNull(wrappedValue: nil)
                    )
                )
            ),
            #"{"logo":{"image":"asset:logo","opacity":0.5},"#
                + #""slates":{"ended":null,"starting_soon":{"text":"At eight"}},"transition_ms":null}"#
        )
        #expect(try WireJSON.decode(LayoutBody.self, from: Data("{}".utf8)) == LayoutBody())
    }

    @Test("any JSON round-trips unchanged")
    func anyJSON() throws {
        let text = #"{"a":[1,-2.5,true,false,null,"x",{"b":{}}],"big":9007199254740991}"#
        let value = try WireJSON.decode(AnyJSON.self, from: Data(text.utf8))
        #expect(try json(value) == text)
    }

    @Test(
        "An event id may be a number or a text",
        arguments: [#"{"session_id":"s","last_event_id":7}"#, #"{"session_id":"s","last_event_id":"7"}"#]
    )
    func eventID(text: String) throws {
        let body = try WireJSON.decode(ReconnectBody.self, from: Data(text.utf8))
        #expect(body.lastEventID == EventID(7))
    }

    @Test("Findings have the codes of their sentences, and what stands in them")
    func findings() throws {
        try golden(
            ProgramDiagnosisResource(
                level: 3,
                message: "m",
                advice: "a",
                adviceCode: "make_720p",
                values: ["percent": 80, "height": 1080],
                processorPercent: 80
            ),
            #"{"advice":"a","advice_code":"make_720p","level":3,"message":"m","processor_percent":80,"#
                + #""values":{"height":1080,"percent":80}}"#
        )
        try golden(
            FindingResource(cause: "ducked", message: "m", advice: "a", by: nil, otherHost: "bo"),
            #"{"advice":"a","by":null,"cause":"ducked","message":"m","other_host":"bo"}"#
        )
        try golden(
            SystemFindingResource(
                subject: "disk",
                level: "warning",
                message: "m",
                advice: "a",
                messageCode: "disk_of_data",
                adviceCode: "delete_recordings",
                values: ["free_bytes": .number(1), "total_bytes": .number(2)]
            ),
            #"{"advice":"a","advice_code":"delete_recordings","level":"warning","message":"m","#
                + #""message_code":"disk_of_data","subject":"disk","values":{"free_bytes":1,"total_bytes":2}}"#
        )
        // Those of an earlier gateway.
        try golden(
            SystemFindingResource(subject: "disk", level: "ok", message: "m"),
            #"{"advice":"","level":"ok","message":"m","subject":"disk"}"#
        )
    }

    @Test("A refusal")
    func refusal() throws {
        try golden(
            ErrorAnswer(
                error: ErrorResource(
                    code: 53105,
                    name: "RoomMaxParticipantsExceededError",
                    message: "Room contains too many Participants",
                    cause: "The Room cannot allow in any more Participants to join",
                    solution: "Notify the user that the Room is full",
                    status: 409,
                    retryable: false,
                    retryAfter: nil,
                    moreInfo: "/docs/errors/53105"
                )
            ),
            #"{"error":{"cause":"The Room cannot allow in any more Participants to join","code":53105,"#
                + #""message":"Room contains too many Participants","more_info":"/docs/errors/53105","#
                + #""name":"RoomMaxParticipantsExceededError","retry_after":null,"retryable":false,"#
                + #""solution":"Notify the user that the Room is full","status":409}}"#
        )
    }

    @Test("Viewership")
    func viewership() throws {
        try golden(
            ViewershipResource(
                room: "show",
                concurrentViewers: 57,
                devices: 55,
                peakConcurrentViewers: 80,
                peakAt: nil,
                joins: 212,
                watchTimeSeconds: 91234.5,
                asOf: Timestamp(0),
                staleMs: 12,
                recovering: false,
                by: BreakdownResource(byProtocol: ["sdk": 16, "hls": 30, "llhls": 8, "rtmp": 2, "flv": 1])
            ),
            #"{"as_of":"1970-01-01T00:00:00.000Z","average_startup_seconds":null,"by":{"client":{},"#
                + #""protocol":{"flv":1,"hls":30,"llhls":8,"rtmp":2,"sdk":16},"region":{},"rendition":{}},"#
                + #""concurrent_viewers":57,"devices":55,"excluded":{},"joins":212,"leaves":0,"peak_at":null,"#
                + #""peak_concurrent_viewers":80,"recovering":false,"resumable":0,"room":"show","stale_ms":12,"#
                + #""stalled_seconds":0,"switches":0,"unfiltered_viewers":0,"#
                + #""uniques":{"approximate":false,"devices":0,"estimated":0,"users":0},"watch_time_seconds":91234.5}"#
        )
    }

    @Test("An output and a livestream")
    func livestream() throws {
        try golden(
            EgressResource(
                broadcasting: true,
                livestream: LivestreamResource(
                    state: "LIVESTREAM_STARTED",
                    startedAt: Timestamp(1),
                    outputs: [
                        OutputResource(
                            name: "yt",
                            url: "rtmp://a.example/live",
                            streamKey: "****wxyz",
                            state: "connected",
                            bytesSent: 10,
                            droppedFrames: 0,
                            reconnects: 1,
                            lastError: nil
                        )
                    ]
                ),
                hls: HLSResource(state: "HLS_STOPPED", startedAt: nil, playbackHLSURL: nil)
            ),
            #"{"broadcasting":true,"hls":{"playback_hls_url":null,"started_at":null,"state":"HLS_STOPPED"},"#
                + #""livestream":{"end_reason":null,"outputs":[{"bytes_sent":10,"dropped_frames":0,"last_error":null,"#
                + #""name":"yt","reconnects":1,"state":"connected","stream_key":"****wxyz","#
                + #""url":"rtmp://a.example/live"}],"started_at":"1970-01-01T00:00:01.000Z","#
                + #""state":"LIVESTREAM_STARTED"}}"#
        )
    }

    @Test("Addresses keep their capitals apart")
    func addresses() throws {
        try golden(
            PlaybackResource(hlsURL: "http://h/1", rtmpURL: "rtmp://h/2", flvURL: "http://h/3"),
            #"{"flv_url":"http://h/3","hls_url":"http://h/1","rtmp_url":"rtmp://h/2","viewer_token":null}"#
        )
        try golden(
            IngestResource(rtmp: RTMPIngestResource(url: "rtmp://h/live", streamKey: "k", screenStreamKey: "k.screen")),
            #"{"rtmp":{"screen_stream_key":"k.screen","stream_key":"k","url":"rtmp://h/live"}}"#
        )
    }

    @Test("requests may omit fields with defaults and contain unknown ones")
    func requests() throws {
        let body = try WireJSON.decode(CreateRoomBody.self, from: Data(#"{"unique_name":"a","colour":[1]}"#.utf8))
        #expect(body == CreateRoomBody(uniqueName: "a"))
        #expect(try WireJSON.decode(JoinBody.self, from: Data("{}".utf8)) == JoinBody())
        #expect(try WireJSON.decode(PageResource.self, from: Data(#"{"page_size":5}"#.utf8)).nextPageToken == nil)
    }
}

@Suite("Timestamps")
struct TimestampTests {
    @Test(
        "A time is written in UTC with milliseconds, and read back the same",
        arguments: [0, 0.001, 1_700_000_000.999]
    )
    func roundTrip(seconds: Double) throws {
        let text = Timestamp(seconds).text
        let back = try #require(Timestamp(text))
        #expect(abs(back.seconds - seconds) < 0.0005)
    }

    @Test("rounding never yields a millisecond too few")
    func rounding() {
        #expect(Timestamp(1_700_000_000.2499999).text == "2023-11-14T22:13:20.250Z")
        #expect(Timestamp(1_700_000_000.9999).text == "2023-11-14T22:13:21.000Z")
        for millisecond in 0..<1000 {
            let text = Timestamp(1_700_000_000 + Double(millisecond) / 1000).text
            let digits = String(1000 + millisecond).dropFirst()
            #expect(text == "2023-11-14T22:13:20.\(digits)Z")
        }
    }

    @Test("Times with and without fractions are read, everything else is not")
    func reading() {
        #expect(Timestamp("1970-01-01T00:00:01Z")?.seconds == 1)
        #expect(Timestamp("1970-01-01T00:00:01.5Z")?.seconds == 1.5)
        for wrong in ["", "yesterday", "1970-01-01", "25:00"] {
            #expect(Timestamp(wrong) == nil)
        }
    }
}

@Suite("JSON decoding errors")
struct WireDecodingErrorTests {
    private func fault(_ text: String) -> WireDecodingError? {
        #expect(throws: WireDecodingError.self) {
            _ = try WireJSON.decode(StartLivestreamBody.self, from: Data(text.utf8))
        }
    }

    @Test("A fault names the field and what it must be")
    func named() {
        #expect(fault(#"{}"#)?.sentence == "outputs is missing")
        #expect(fault(#"{"outputs":5}"#)?.sentence == "outputs must be a list")
        #expect(fault(#"{"outputs":[{"url":7,"stream_key":"k"}]}"#)?.sentence == "outputs[0].url must be text")
        #expect(fault(#"{"outputs":[{"url":"u"}]}"#)?.sentence == "outputs[0].stream_key is missing")
        #expect(fault(#"{"outputs":[],"width":"wide"}"#)?.sentence == "width must be a whole number")
        #expect(fault(#"{"outputs":null}"#)?.field == "outputs")
    }

    @Test("reports a text that is not JSON", arguments: ["", "{", "nonsense", "\u{0}", "[1,"])
    func noJSON(text: String) {
        #expect(fault(text)?.sentence == "the body is not JSON")
    }

    @Test("reports a document of another type")
    func wrongKind() {
        #expect(fault("[]")?.field == "")
    }
}
