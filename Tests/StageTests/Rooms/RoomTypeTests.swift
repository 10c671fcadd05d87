import FootlightTesting
import Foundation
import Testing

@testable import Stage

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
