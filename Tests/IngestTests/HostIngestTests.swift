import FootlightTesting
import Glibc
import Logging
import Media
import NIOCore
import NIOPosix
import RTMP
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Ingest

@Suite("Host ingest with a real encoder", .enabled(if: TestRun.isFull), .serialized)
struct HostIngestTests {
    @Test("accepts a host with its key, and the stage shows its media")
    func accepts() async throws {
        try await HostIngestFixture.run { fixture in
            let key = try fixture.join("anna")
            let host = try fixture.publish(key)
            #expect(try await eventually { (fixture.sinks.first?.count ?? 0) > 40 })
            let sink = try #require(fixture.sinks.first)
            #expect(sink.takeovers == 1)
            let packets = sink.packets
            #expect(packets.contains { $0.content == .videoConfiguration(.h264) })
            #expect(packets.contains { $0.content == .audioConfiguration(.aac) })
            #expect(packets.first(where: \.isVideo)?.content == .videoConfiguration(.h264))
            let anna = try #require(try fixture.stage.room("show").participants.first)
            // A track is published when media arrives; the mixer reports whether it can be decoded.
            #expect(anna.track(.camera)?.mediaState == .loading && anna.track(.mic)?.mediaState == .loading)
            #expect(anna.status == .connected)
            #expect(anna.tracks.contains { $0.width == 320 && $0.height == 180 })
            host.end()
            // The host remains a participant after its connection ended.
            #expect(
                try await eventually {
                    try fixture.stage.participant("anna", in: "show").tracks.isEmpty
                }
            )
            #expect(try fixture.stage.room("show").counts.hosts == 1)
        }
    }

    @Test("refuses wrong keys with a reason and without delay beyond the limit, and accepts a valid key")
    func wrongKeys() async throws {
        try await HostIngestFixture.run { fixture in
            let key = try fixture.join("anna")
            let wrong = "sk_" + String(repeating: "x", count: key.count - 3)
            for _ in 0..<3 {
                let start = MonotonicTime.now()
                let host = try fixture.publish(wrong)
                #expect(try await host.wait(.seconds(20)) != nil)
                #expect(host.standardError.contains("not known"))
                #expect(MonotonicTime.now().seconds(since: start) >= HostIngestFixture.delay)
            }
            let host = try fixture.publish(wrong)
            #expect(try await host.wait(.seconds(20)) != nil)
            #expect(host.standardError.contains("too many wrong stream keys"))
            #expect(fixture.sinks.isEmpty)
            try fixture.publish(key)
            #expect(try await eventually { (fixture.sinks.first?.count ?? 0) > 5 })
        }
    }

    @Test("replaces an older connection with the same key and notifies it")
    func newerWins() async throws {
        try await HostIngestFixture.run { fixture in
            let key = try fixture.join("anna")
            let first = try fixture.publish(key)
            #expect(try await eventually { (fixture.sinks.first?.count ?? 0) > 5 })
            let second = try fixture.publish(key)
            #expect(try await first.wait(.seconds(20)) != nil)
            #expect(try await eventually { fixture.sinks.count == 2 && fixture.sinks[1].count > 20 })
            #expect(fixture.sinks.map(\.takeovers) == [1, 1])
            let storedBytes = fixture.sinks[1].packets.reduce(0) { $0 + $1.body.readableBytes }
            let received = try #require(fixture.ingest.statistics.received.first)
            #expect(fixture.ingest.statistics.received.count == 1)
            #expect(received.identity == "anna" && received.room == "show" && received.source == .camera)
            #expect(received.bytes >= UInt64(storedBytes))
            #expect(second.isRunning)
            // The end of the older connection does not remove the host from the stage.
            #expect(try fixture.stage.participant("anna", in: "show").track(.camera) != nil)
            let count = fixture.sinks[0].count
            #expect(try await eventually { fixture.sinks[1].count > 60 })
            #expect(fixture.sinks[0].count == count)
        }
    }

    @Test("T3b drops disabled and unpublished tracks before the feed and resumes video with a keyframe")
    func gated() async throws {
        try await HostIngestFixture.run { fixture in
            try fixture.publish(try fixture.join("anna"))
            #expect(try await eventually { (fixture.sinks.first?.count ?? 0) > 20 })
            let sink = try #require(fixture.sinks.first)

            _ = try fixture.stage.setTrack(room: "show", participant: "anna", name: .mic, isEnabled: false)
            // A packet in transit may still arrive.
            try await Task.sleep(for: .milliseconds(50))
            let muted = sink.packets
            #expect(try await eventually { sink.count > muted.count + 20 })
            #expect(sink.packets.dropFirst(muted.count).allSatisfy { !$0.isAudio })

            try fixture.stage.unpublishTrack(room: "show", participant: "anna", name: .camera)
            try await Task.sleep(for: .milliseconds(50))
            let silent = sink.count
            try await Task.sleep(for: .milliseconds(500))
            #expect(sink.count == silent)
            #expect(fixture.ingest.statistics.publishers == 1)

            _ = try fixture.stage.publishTrack(room: "show", participant: "anna", name: .camera)
            _ = try fixture.stage.setTrack(room: "show", participant: "anna", name: .mic, isEnabled: true)
            #expect(
                try await eventually { sink.packets.dropFirst(silent).contains(where: \.isVideo) }
            )
            let back = sink.packets.dropFirst(silent)
            let first = try #require(back.first { $0.isVideo })
            #expect(first.isKeyframe || first.isConfiguration)
            #expect(back.first { $0.isVideo && !$0.isConfiguration }?.isKeyframe == true)
            #expect(back.contains { $0.isAudio })
            #expect(try await eventually { fixture.ingest.statistics.droppedAudioFrames > 10 })
            #expect(fixture.ingest.statistics.droppedVideoFrames > 5)
        }
    }

    @Test("53405 reports a silent host after three seconds and its return with the first packet")
    func silent() async throws {
        try await HostIngestFixture.run { fixture in
            let host = try fixture.publish(try fixture.join("anna"))
            #expect(try await eventually { (fixture.sinks.first?.count ?? 0) > 20 })
            host.signal(SIGSTOP)
            let stopped = MonotonicTime.now()
            #expect(
                try await eventually {
                    try fixture.stage.participant("anna", in: "show").status == .reconnecting
                }
            )
            let missed = MonotonicTime.now().seconds(since: stopped)
            #expect(missed > 2.5 && missed < 8)
            #expect(fixture.ingest.statistics.interruptions >= 1)
            #expect(try fixture.stage.participant("anna", in: "show").tracks.count == 2)
            host.signal(SIGCONT)
            #expect(
                try await eventually {
                    try fixture.stage.participant("anna", in: "show").status == .connected
                }
            )
        }
    }

    @Test("53405 does not report a loss of media while an encoder starts")
    func start() async throws {
        try await HostIngestFixture.run { fixture in
            let losses = Mutex(0)
            let observation = fixture.stage.observe { event in
                if event.name == .participantReconnecting { losses.withLock { $0 += 1 } }
            }
            defer { observation.cancel() }
            let joined = try fixture.stage.join(
                room: "show",
                JoinRequest(identity: "anna", mode: .sendAndReceive)
            )
            let (sid, session) = (joined.participant.sid, joined.sessionID)
            try fixture.stage.heartbeat(room: "show", participant: sid, sessionID: session)
            _ = try fixture.stage.publishTrack(room: "show", participant: sid, name: .camera)
            try fixture.publish(#require(joined.credentials).streamKey)
            try fixture.publish(fixture.join("bert"))
            #expect(
                try await eventually {
                    fixture.sinks.count == 2 && fixture.sinks.allSatisfy { $0.count > 60 }
                }
            )
            #expect(losses.withLock { $0 } == 0)
            #expect(try fixture.stage.participant("anna", in: "show").status == .connected)
        }
    }

    @Test("applies the max_kbps and video size of the call settings to the encoder")
    func ownLimits() async throws {
        try await HostIngestFixture.run { fixture in
            let small = CallSettings(width: 160, height: 90)
            let joined = try fixture.stage.join(
                room: "show",
                JoinRequest(identity: "anna", mode: .sendAndReceive, callSettings: small)
            )
            let host = try fixture.publish(#require(joined.credentials).streamKey)
            #expect(try await host.wait(.seconds(20)) != nil)
            #expect(host.standardError.contains("320x180 is too large") && host.standardError.contains("(53305)"))
            #expect(fixture.sinks.allSatisfy { sink in !sink.packets.contains(where: \.isVideo) })

            let grant = try fixture.stage.authorizePublish(streamKey: fixture.join("bert")).get()
            let open = IngestConfiguration(maximumBitrate: 900).narrowed(to: grant.limits)
            #expect(open.maximumBitrate == 900 && open.maximumFrameSize == (1920, 1088))
            let request = JoinRequest(
                identity: "carl",
                mode: .sendAndReceive,
                callSettings: CallSettings(maximumBitrate: 500, width: 720, height: 1280)
            )
            let key = try #require(fixture.stage.join(room: "show", request).credentials).streamKey
            let limits = try fixture.stage.authorizePublish(streamKey: key).get().limits
            let narrow = IngestConfiguration().narrowed(to: limits)
            #expect(narrow.maximumBitrate == 500 && narrow.maximumFrameSize == (1280, 720))
        }
    }

    @Test("53404 refuses an unsupported codec with its error code and notifies the room")
    func unsupportedCodec() async throws {
        try await HostIngestFixture.run { fixture in
            let key = try fixture.join("anna")
            let errors = Mutex<[StageError]>([])
            let observation = fixture.stage.observe { event in
                guard case .participantMediaFailed(let host, let error) = event.payload, host.identity == "anna" else {
                    return
                }
                errors.withLock { $0.append(error) }
            }
            defer { observation.cancel() }
            let old = try fixture.publish(key, codec: "flv")
            #expect(try await old.wait(.seconds(20)) != nil)
            #expect(old.standardError.contains("Sorenson H.263 is not supported"), "\(old.standardError)")
            #expect(old.standardError.contains("(53404)"), "\(old.standardError)")
            #expect(errors.withLock { $0.map(\.code) } == [53404])
            #expect(errors.withLock { $0.first?.message } == "Sorenson H.263 is not supported")
            #expect(try fixture.stage.participant("anna", in: "show").tracks.isEmpty)
            #expect(fixture.sinks.allSatisfy { !$0.packets.contains(where: \.isVideo) })
        }
    }

    @Test("53305 refuses hosts beyond the limit and accepts a takeover")
    func capacity() async throws {
        try await HostIngestFixture.run(maximumPublishers: 1) { fixture in
            let failures = Mutex<[Int]>([])
            let observation = fixture.stage.observe { event in
                if case .participantMediaFailed(_, let error) = event.payload {
                    failures.withLock { $0.append(error.code) }
                }
            }
            defer { observation.cancel() }
            let key = try fixture.join("anna")
            try fixture.publish(key)
            #expect(try await eventually { (fixture.sinks.first?.count ?? 0) > 5 })
            let second = try fixture.publish(try fixture.join("bert"))
            #expect(try await second.wait(.seconds(20)) != nil)
            #expect(second.standardError.contains("(53305)"), "\(second.standardError)")
            #expect(failures.withLock { $0 } == [53305])
            try fixture.publish(key)
            #expect(try await eventually { fixture.sinks.count == 2 && fixture.sinks[1].count > 5 })
        }
    }

    @Test("refuses the key of a former host")
    func notAHost() async throws {
        try await HostIngestFixture.run { fixture in
            let key = try fixture.join("anna")
            _ = try fixture.stage.changeMode(room: "show", participant: "anna", to: .receiveOnly)
            let host = try fixture.publish(key)
            #expect(try await host.wait(.seconds(20)) != nil)
            #expect(host.standardError.contains("not a host"))
            #expect(fixture.sinks.isEmpty)
        }
    }

    @Test("closes the hosts of an ended room only and invalidates their keys")
    func roomEnds() async throws {
        try await HostIngestFixture.run { fixture in
            let key = try fixture.join("anna")
            _ = try fixture.stage.create(RoomSettings(name: "other"))
            let other = try fixture.join("bert", room: "other")
            let hosts = [try fixture.publish(key), try fixture.publish(other)]
            #expect(
                try await eventually {
                    fixture.sinks.count == 2 && fixture.sinks.allSatisfy { $0.count > 5 }
                }
            )
            try fixture.stage.end(room: "show")
            fixture.ingest.close(because: "the room has ended") { $0.room == "show" }
            #expect(try await hosts[0].wait(.seconds(20)) != nil)
            #expect(hosts[1].isRunning)
            let again = try fixture.publish(key)
            #expect(try await again.wait(.seconds(20)) != nil)
            #expect(fixture.sinks.count == 2)
        }
    }
}
