import FootlightTesting
import Glibc
@testable import Ingest
import Logging
import Media
import NIOCore
import NIOPosix
import RTMP
import Stage
import Synchronization
import Testing

@Suite("Hosts at the door, with a real encoder", .serialized)
struct HostDoorTests {
    @Test("A host with its key is let in, and the stage shows what it sends")
    func letsIn() async throws {
        try await HostDoorStand.run { stand in
            let key = try stand.join("anna")
            let host = try stand.publish(key)
            #expect(try await eventually { (stand.sinks.first?.count ?? 0) > 40 })
            let sink = try #require(stand.sinks.first)
            #expect(sink.takeovers == 1)
            let packets = sink.packets
            #expect(packets.contains { $0.content == .videoConfiguration(.h264) })
            #expect(packets.contains { $0.content == .audioConfiguration(.aac) })
            #expect(packets.first(where: \.isVideo)?.content == .videoConfiguration(.h264))
            let anna = try #require(try stand.stage.room("show").participants.first)
            // Published by what arrives; it is for the mixer to say that it can be decoded.
            #expect(anna.track(.camera)?.mediaState == .loading && anna.track(.mic)?.mediaState == .loading)
            #expect(anna.status == .connected)
            #expect(anna.tracks.contains { $0.width == 320 && $0.height == 180 })
            host.end()
            // The host keeps its place: the connection is gone, the participant is not.
            #expect(
                try await eventually {
                    try stand.stage.participant("anna", in: "show").tracks.isEmpty
                }
            )
            #expect(try stand.stage.room("show").counts.hosts == 1)
        }
    }

    @Test("A wrong key is refused with a reason; one too many at once; and a right key opens all the same")
    func wrongKeys() async throws {
        try await HostDoorStand.run { stand in
            let key = try stand.join("anna")
            let wrong = "sk_" + String(repeating: "x", count: key.count - 3)
            for _ in 0..<3 {
                let start = MonotonicTime.now()
                let host = try stand.publish(wrong)
                #expect(try await host.wait(.seconds(20)) != nil)
                #expect(host.standardError.contains("not known"))
                #expect(MonotonicTime.now().seconds(since: start) >= HostDoorStand.delay)
            }
            let host = try stand.publish(wrong)
            #expect(try await host.wait(.seconds(20)) != nil)
            #expect(host.standardError.contains("too many wrong stream keys"))
            #expect(stand.sinks.isEmpty)
            try stand.publish(key)
            #expect(try await eventually { (stand.sinks.first?.count ?? 0) > 5 })
        }
    }

    @Test("Of two connections with one key the newer one wins, and the older one is told")
    func newerWins() async throws {
        try await HostDoorStand.run { stand in
            let key = try stand.join("anna")
            let first = try stand.publish(key)
            #expect(try await eventually { (stand.sinks.first?.count ?? 0) > 5 })
            let second = try stand.publish(key)
            #expect(try await first.wait(.seconds(20)) != nil)
            #expect(try await eventually { stand.sinks.count == 2 && stand.sinks[1].count > 20 })
            #expect(stand.sinks.map(\.takeovers) == [1, 1])
            let kept = stand.sinks[1].packets.reduce(0) { $0 + $1.body.readableBytes }
            let received = try #require(stand.door.statistics.received.first)
            #expect(stand.door.statistics.received.count == 1)
            #expect(received.identity == "anna" && received.room == "show" && received.source == .camera)
            #expect(received.bytes >= UInt64(kept))
            #expect(second.isRunning)
            // The end of the older connection did not take the host off the stage.
            #expect(try stand.stage.participant("anna", in: "show").track(.camera) != nil)
            let count = stand.sinks[0].count
            #expect(try await eventually { stand.sinks[1].count > 60 })
            #expect(stand.sinks[0].count == count)
        }
    }

    @Test("T3b What is disabled or withdrawn never reaches the feed, and a camera comes back with a key picture")
    func gated() async throws {
        try await HostDoorStand.run { stand in
            try stand.publish(try stand.join("anna"))
            #expect(try await eventually { (stand.sinks.first?.count ?? 0) > 20 })
            let sink = try #require(stand.sinks.first)

            _ = try stand.stage.setTrack(room: "show", participant: "anna", name: .mic, isEnabled: false)
            // What is being handed over at this very moment may still come.
            try await Task.sleep(for: .milliseconds(50))
            let muted = sink.packets
            #expect(try await eventually { sink.count > muted.count + 20 })
            #expect(sink.packets.dropFirst(muted.count).allSatisfy { !$0.isAudio })

            try stand.stage.unpublishTrack(room: "show", participant: "anna", name: .camera)
            try await Task.sleep(for: .milliseconds(50))
            let silent = sink.count
            try await Task.sleep(for: .milliseconds(500))
            #expect(sink.count == silent)
            #expect(stand.door.statistics.publishers == 1)

            _ = try stand.stage.publishTrack(room: "show", participant: "anna", name: .camera)
            _ = try stand.stage.setTrack(room: "show", participant: "anna", name: .mic, isEnabled: true)
            #expect(
                try await eventually { sink.packets.dropFirst(silent).contains(where: \.isVideo) }
            )
            let back = sink.packets.dropFirst(silent)
            let first = try #require(back.first { $0.isVideo })
            #expect(first.isKeyPicture || first.isConfiguration)
            #expect(back.first { $0.isVideo && !$0.isConfiguration }?.isKeyPicture == true)
            #expect(back.contains { $0.isAudio })
            #expect(try await eventually { stand.door.statistics.droppedSounds > 10 })
            #expect(stand.door.statistics.droppedPictures > 5)
        }
    }

    @Test("53405 A host whose connection falls silent is missed after three seconds, and back with its first packet")
    func silent() async throws {
        try await HostDoorStand.run { stand in
            let host = try stand.publish(try stand.join("anna"))
            #expect(try await eventually { (stand.sinks.first?.count ?? 0) > 20 })
            host.signal(SIGSTOP)
            let stopped = MonotonicTime.now()
            #expect(
                try await eventually {
                    try stand.stage.participant("anna", in: "show").status == .reconnecting
                }
            )
            let missed = MonotonicTime.now().seconds(since: stopped)
            #expect(missed > 2.5 && missed < 8)
            #expect(stand.door.statistics.interruptions >= 1)
            #expect(try stand.stage.participant("anna", in: "show").tracks.count == 2)
            host.signal(SIGCONT)
            #expect(
                try await eventually {
                    try stand.stage.participant("anna", in: "show").status == .connected
                }
            )
        }
    }

    @Test("53405 the start of an encoder is no loss of media, for a host with a client and tracks by command")
    func start() async throws {
        try await HostDoorStand.run { stand in
            let losses = Mutex(0)
            let observation = stand.stage.observe { event in
                if event.name == .participantReconnecting { losses.withLock { $0 += 1 } }
            }
            defer { observation.cancel() }
            let joined = try stand.stage.join(
                room: "show",
                JoinRequest(identity: "anna", mode: .sendAndReceive)
            )
            let (sid, session) = (joined.participant.sid, joined.sessionID)
            try stand.stage.heartbeat(room: "show", participant: sid, sessionID: session)
            _ = try stand.stage.publishTrack(room: "show", participant: sid, name: .camera)
            try stand.publish(#require(joined.credentials).streamKey)
            try stand.publish(stand.join("bert"))
            #expect(
                try await eventually {
                    stand.sinks.count == 2 && stand.sinks.allSatisfy { $0.count > 60 }
                }
            )
            #expect(losses.withLock { $0 } == 0)
            #expect(try stand.stage.participant("anna", in: "show").status == .connected)
        }
    }

    @Test("max_kbps and the picture of the call settings bind what the host's encoder may send")
    func ownLimits() async throws {
        try await HostDoorStand.run { stand in
            let small = CallSettings(width: 160, height: 90)
            let joined = try stand.stage.join(
                room: "show",
                JoinRequest(identity: "anna", mode: .sendAndReceive, callSettings: small)
            )
            let host = try stand.publish(#require(joined.credentials).streamKey)
            #expect(try await host.wait(.seconds(20)) != nil)
            #expect(host.standardError.contains("320x180 is too large") && host.standardError.contains("(53305)"))
            #expect(stand.sinks.allSatisfy { sink in !sink.packets.contains(where: \.isVideo) })

            let grant = try stand.stage.authorizePublish(streamKey: stand.join("bert")).get()
            let open = IngestConfiguration(maximumBitrate: 900).narrowed(to: grant.limits)
            #expect(open.maximumBitrate == 900 && open.maximumPicture == (1920, 1088))
            let request = JoinRequest(
                identity: "carl",
                mode: .sendAndReceive,
                callSettings: CallSettings(maximumBitrate: 500, width: 720, height: 1280)
            )
            let key = try #require(stand.stage.join(room: "show", request).credentials).streamKey
            let limits = try stand.stage.authorizePublish(streamKey: key).get().limits
            let narrow = IngestConfiguration().narrowed(to: limits)
            #expect(narrow.maximumBitrate == 500 && narrow.maximumPicture == (1280, 720))
        }
    }

    @Test("53404 an encoder with a codec that cannot be decoded hears the number, and so does everybody in the room")
    func unsupportedCodec() async throws {
        try await HostDoorStand.run { stand in
            let key = try stand.join("anna")
            let told = Mutex<[StageError]>([])
            let observation = stand.stage.observe { event in
                guard case .participantMediaFailed(let host, let error) = event.payload, host.identity == "anna" else {
                    return
                }
                told.withLock { $0.append(error) }
            }
            defer { observation.cancel() }
            let old = try stand.publish(key, codec: "flv")
            #expect(try await old.wait(.seconds(20)) != nil)
            #expect(old.standardError.contains("Sorenson H.263 is not supported"), "\(old.standardError)")
            #expect(old.standardError.contains("(53404)"), "\(old.standardError)")
            #expect(told.withLock { $0.map(\.code) } == [53404])
            #expect(told.withLock { $0.first?.message } == "Sorenson H.263 is not supported")
            #expect(try stand.stage.participant("anna", in: "show").tracks.isEmpty)
            #expect(stand.sinks.allSatisfy { !$0.packets.contains(where: \.isVideo) })
        }
    }

    @Test("53305 beyond the limit of hosts a further one is refused and told, and a takeover is not")
    func capacity() async throws {
        try await HostDoorStand.run(maximumPublishers: 1) { stand in
            let failures = Mutex<[Int]>([])
            let observation = stand.stage.observe { event in
                if case .participantMediaFailed(_, let error) = event.payload {
                    failures.withLock { $0.append(error.code) }
                }
            }
            defer { observation.cancel() }
            let key = try stand.join("anna")
            try stand.publish(key)
            #expect(try await eventually { (stand.sinks.first?.count ?? 0) > 5 })
            let second = try stand.publish(try stand.join("bert"))
            #expect(try await second.wait(.seconds(20)) != nil)
            #expect(second.standardError.contains("(53305)"), "\(second.standardError)")
            #expect(failures.withLock { $0 } == [53305])
            try stand.publish(key)
            #expect(try await eventually { stand.sinks.count == 2 && stand.sinks[1].count > 5 })
        }
    }

    @Test("A host that is no host any more is refused with its old key")
    func notAHost() async throws {
        try await HostDoorStand.run { stand in
            let key = try stand.join("anna")
            _ = try stand.stage.changeMode(room: "show", participant: "anna", to: .receiveOnly)
            let host = try stand.publish(key)
            #expect(try await host.wait(.seconds(20)) != nil)
            #expect(host.standardError.contains("not a host"))
            #expect(stand.sinks.isEmpty)
        }
    }

    @Test("When the room ends its hosts are closed, those of other rooms are not, and the key is worth nothing")
    func roomEnds() async throws {
        try await HostDoorStand.run { stand in
            let key = try stand.join("anna")
            _ = try stand.stage.create(RoomSettings(name: "other"))
            let other = try stand.join("bert", room: "other")
            let hosts = [try stand.publish(key), try stand.publish(other)]
            #expect(
                try await eventually {
                    stand.sinks.count == 2 && stand.sinks.allSatisfy { $0.count > 5 }
                }
            )
            try stand.stage.end(room: "show")
            stand.door.close(because: "the room has ended") { $0.room == "show" }
            #expect(try await hosts[0].wait(.seconds(20)) != nil)
            #expect(hosts[1].isRunning)
            let again = try stand.publish(key)
            #expect(try await again.wait(.seconds(20)) != nil)
            #expect(stand.sinks.count == 2)
        }
    }
}
