@testable import HLS
import Testing

@Suite("Dates and numbers in playlists")
struct ProgramDateTimeTests {
    @Test(
        "dates are right over leap days and centuries",
        arguments: [
            (0.0, "1970-01-01T00:00:00.000Z"), (951_782_399.9996, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199.25, "2024-02-29T23:59:59.250Z"), (1_709_251_200, "2024-03-01T00:00:00.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"), (1_798_761_599.001, "2026-12-31T23:59:59.001Z"),
            (-5, "1970-01-01T00:00:00.000Z"), (Double.nan, "1970-01-01T00:00:00.000Z"),
        ]
    )
    func dates(seconds: Double, text: String) {
        #expect(ProgramDateTime.text(seconds) == text)
    }

    @Test("fractions are rounded, carried over and padded")
    func decimals() {
        #expect(Decimal.text(2, digits: 5) == "2.00000")
        #expect(Decimal.text(1.999996, digits: 5) == "2.00000")
        #expect(Decimal.text(94 * 1024 / 48_000.0, digits: 5) == "2.00533")
        #expect(Decimal.text(.infinity, digits: 3) == "0.000")
    }
}
