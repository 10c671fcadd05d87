import Foundation
import Stage
import Testing

@testable import RoomStore

@Suite("Stored rooms whose numbers are damaged")
struct DamagedRecordTests {
    @Test(
        "are left out one by one, for they could not be counted on from",
        arguments: [
            (#""revision":\d+"#, #""revision":18446744073709551615"#),
            (#""keyInterval":\d+"#, #""keyInterval":9223372036854775807"#),
            (#""numerator":\d+"#, #""numerator":0"#), (#""denominator":\d+"#, #""denominator":0"#),
            (#""width":\d+"#, #""width":9223372036854775807"#), (#""createdAt":[\d.]+"#, #""createdAt":1e308"#),
            (#""maximumHosts":\d+"#, #""maximumHosts":-1"#),
        ]
    )
    func numbers(pattern: String, damage: String) throws {
        let directory = RoomDirectory(pepper: [1, 2, 3])
        let room = try directory.create(RoomSettings(name: "show"))
        let record = try #require(directory.record(of: room.sid))
        var stored = try StoredRoom(record)
        #expect(try stored.decoded() == record)
        let text = stored.record.replacing(try Regex(pattern), with: damage)
        #expect(text != stored.record)
        stored.record = text
        #expect(throws: (any Error).self) { try stored.decoded() }
    }
}
