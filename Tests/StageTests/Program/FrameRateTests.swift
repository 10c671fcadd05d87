import Foundation
import Stage
import Testing

@Suite("Frame rates")
struct FrameRateTests {
    @Test("A rate is read from the ways people write it")
    func reading() {
        #expect(FrameRate("30") == FrameRate(30))
        #expect(FrameRate("29.97") == FrameRate(30000, per: 1001))
        #expect(FrameRate("30000/1001") == FrameRate("29.97"))
        for wrong in [
            "", "0", "61", "-30", "30/0", "1/2", "abc", "30/1/1", "25.5", "/",
            "9223372036854775807/9223372036854775807", "60000/2002",
        ] {
            #expect(FrameRate(wrong) == nil, "\(wrong)")
        }
    }

    @Test("29.97 pictures a second fall on exact samples over a year")
    func exact() {
        let rate = FrameRate(30000, per: 1001)
        #expect(rate.sample(ofPicture: 30_000) == 1001 * 48_000)
        #expect(rate.sample(ofPicture: 30_000 * 31_536) == 1001 * 48_000 * 31_536)
        #expect(rate.sample(ofPicture: 1) == 1601)
    }

    @Test(
        "A stored rate is one that could be asked for",
        arguments: [(0, 1), (30, 0), (-30, 1), (61, 1), (.max, 1), (.max, .max)]
    )
    func stored(numerator: Int, denominator: Int) throws {
        let json = Data(#"{"numerator":\#(numerator),"denominator":\#(denominator)}"#.utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(FrameRate.self, from: json) }
        let rate = FrameRate(30000, per: 1001)
        #expect(try JSONDecoder().decode(FrameRate.self, from: JSONEncoder().encode(rate)) == rate)
    }
}
