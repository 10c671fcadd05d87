import Foundation
import FootlightTesting
import Testing

@testable import Stage

@Suite("Room settings")
struct RoomSettingsTests {
    private func code(_ settings: RoomSettings) -> Int? {
        do {
            try settings.validate()
            return nil
        } catch {
            return error.code
        }
    }

    @Test("The defaults are valid")
    func defaults() {
        #expect(code(RoomSettings(name: "Show_1-a")) == nil)
    }

    @Test("A name must have 1 to 64 letters, digits, underscores or dashes")
    func names() {
        #expect(code(RoomSettings(name: "")) == 53100)
        #expect(code(RoomSettings(name: String(repeating: "a", count: 64))) == nil)
        #expect(code(RoomSettings(name: String(repeating: "a", count: 65))) == 53101)
        for name in ["a b", "a/b", "ä", "a.b", "../x", "a\u{0}"] {
            #expect(code(RoomSettings(name: name)) == 53102)
        }
    }

    @Test("Every number has its range, and an error names the field")
    func ranges() {
        #expect(code(RoomSettings(name: "a", maximumParticipants: 0)) == 53107)
        #expect(code(RoomSettings(name: "a", maximumParticipants: 10_001)) == 53107)
        for (settings, field) in [
            (RoomSettings(name: "a", maximumHosts: 0), "max_hosts"),
            (RoomSettings(name: "a", emptyTimeout: 0), "empty_room_timeout"),
            (RoomSettings(name: "a", unusedTimeout: RoomSettings.longestTimeout + 1), "unused_room_timeout"),
            (RoomSettings(name: "a", layout: .init(gridSize: 13)), "layout.grid_size"),
            (RoomSettings(name: "a", program: .init(width: 1281)), "program.width"),
            (RoomSettings(name: "a", program: .init(height: 88)), "program.height"),
            (RoomSettings(name: "a", program: .init(videoBitrate: 9)), "program.video_bitrate"),
            (RoomSettings(name: "a", program: .init(audioBitrate: 321)), "program.audio_bitrate"),
            (RoomSettings(name: "a", program: .init(jitterTarget: 59)), "program.jitter_target"),
            (RoomSettings(name: "a", program: .init(keyInterval: 11)), "program.key_interval"),
            (RoomSettings(name: "a", program: .init(frameRate: FrameRate(61))), "program.fps"),
        ] {
            let error = #expect(throws: StageError.self) { try settings.validate() }
            #expect(error?.code == 3073)
            #expect(error?.message.hasPrefix(field) ?? false, "\(error?.message ?? "") names \(field)")
        }
    }
}

@Suite("Types of rooms")
struct RoomTypeTests {
    @Test(
        "S16 each type takes away something else, and the default nothing",
        arguments: [
            (RoomType.default, false, false, false), (.livestream, false, true, false), (.audioRoom, false, true, true),
            (.private, true, false, false),
        ]
    )
    func rules(type: RoomType, joining: Bool, speaking: Bool, streaming: Bool) {
        #expect(type.needsInvitationToJoin == joining)
        #expect(type.needsPermissionToSpeak == speaking)
        #expect(type.isStreamedByOperators == streaming)
    }

    @Test("S16 settings that do not name a type are the default's, as stored rooms of earlier versions are")
    func stored() throws {
        let usual = try JSONEncoder().encode(RoomSettings(name: "show"))
        #expect(!String(decoding: usual, as: UTF8.self).contains("givenType"), "written as before there were types")
        #expect(try JSONDecoder().decode(RoomSettings.self, from: usual).type == .default)
        for type in RoomType.allCases {
            let settings = RoomSettings(name: "show", type: type)
            let data = try JSONEncoder().encode(settings)
            #expect(try JSONDecoder().decode(RoomSettings.self, from: data) == settings)
            let directory = RoomDirectory(pepper: [1])
            #expect(try directory.create(settings).settings.type == type)
            #expect(try directory.summary(of: "show").type == type)
        }
    }
}
