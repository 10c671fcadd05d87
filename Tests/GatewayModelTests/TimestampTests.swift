import GatewayModel
import Testing

@Suite("Times on the wire")
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

    @Test("Rounding never shows a thousandth too few")
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
